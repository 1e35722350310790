"""Holding an output against rules: what costs nothing first, and what costs most last."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orkeon_transitions.crew.checks.apart import SECONDS, TookTooLongError, asked_apart
from orkeon_transitions.crew.checks.rules import Rule, longest_allowed, plain_problems, unfenced
from orkeon_transitions.crew.threads import call_anything

GuardrailFunction = Callable[..., Any]
"""A plain or async function of an output. It answers True or None: the output is in order; False: it is not;
a text: what is wrong with it; or a pair of whether it is in order and why not."""

Judge = Callable[[str, str], Awaitable[str | None]]
"""Asks a model whether an output (the second argument) is as the first says: what is wrong, or None."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Holds outputs against rules.

    Attributes:
        functions: The program's own checks, by the names that rules call them by.
        models: Classes that outputs can be read as, such as pydantic models, by name.
        seconds: How long a pattern or a schema may take.
    """

    functions: Mapping[str, GuardrailFunction] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = SECONDS

    async def problems(self, text: str, rules: Sequence[Rule], judge: Judge | None = None) -> list[str]:
        """What is wrong with an output.

        Functions are only called where nothing else is wrong, and a model is only asked after them.

        Args:
            text: The output.
            rules: What is asked of it.
            judge: Asks a model.

        Raises:
            Exception: What a function or the model raises: the output could not be checked.
        """
        most = longest_allowed(rules)
        if len(text) > most:
            # Nothing else is looked for in it.
            return [f"it has {len(text):,} characters, and may have at most {most:,}"]
        for stage in (self._plain, self._slow, self._called):
            found = [problem for rule in rules for problem in await stage(rule, text)]
            if found:
                return list(dict.fromkeys(found))
        if judge is None:
            return []
        judged = [await judge(rule.judge, text) for rule in rules if rule.judge is not None]
        return [problem for problem in judged if problem is not None]

    async def _plain(self, rule: Rule, text: str) -> list[str]:
        return _in_words(rule, list(plain_problems(rule, text)))

    async def _slow(self, rule: Rule, text: str) -> list[str]:
        """What only a process of its own can do in a bounded time, and what a stranger's class does."""
        problems = []
        for pattern, wanted in rule.patterns:
            problems += await self._matched(pattern, text, wanted=wanted)
        if rule.schema is not None:
            question = {"schema": rule.schema, "text": unfenced(text)}
            try:
                problems += await call_anything(asked_apart, question, self.seconds)
            except TookTooLongError as error:
                problems.append(f"holding it against its schema {error}")
        if rule.model is not None:
            problems += await call_anything(_unreadable, self.models[rule.model], unfenced(text))
        return _in_words(rule, problems)

    async def _matched(self, pattern: str, text: str, *, wanted: bool) -> list[str]:
        try:
            found = await call_anything(asked_apart, {"pattern": pattern, "text": text}, self.seconds)
        except TookTooLongError as error:
            return [f"looking for /{pattern}/ in it {error}"]
        if bool(found) is wanted:
            return []
        return [f"it {'must' if wanted else 'must not'} match /{pattern}/"]

    async def _called(self, rule: Rule, text: str) -> list[str]:
        if rule.function is None:
            return []
        answer = await call_anything(self.functions[rule.function], text)
        return _in_words(rule, _judged(rule.function, answer))


def _judged(name: str, answer: Any) -> list[str]:
    why: Any = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, why = answer
    if answer is None or answer is True:
        return []
    if answer is False:
        return [str(why) if why else f"the check '{name}' does not accept it"]
    if isinstance(answer, str):
        return [answer] if answer.strip() else []
    raise TypeError(f"the check '{name}' answers true, false or a text, not {type(answer).__name__}")


def _unreadable(model: Any, text: str) -> list[str]:
    """Why a text cannot be read as a class."""
    try:
        TypeAdapter(model).validate_json(text)
    except ValidationError as error:
        return [
            f"at ${''.join(f'.{part}' for part in one['loc'])}: {one['msg']}"
            for one in error.errors(include_url=False, include_context=False, include_input=False)[:10]
        ]
    return []


def _in_words(rule: Rule, problems: list[str]) -> list[str]:
    return [rule.message] if problems and rule.message else problems


def check_function(name: str, function: Any) -> None:
    """Sees to it that a function can be called with an output, and nothing else.

    Raises:
        TypeError: It cannot be.
    """
    if not callable(function):
        raise TypeError(f"the check '{name}' is no function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # such as a function written in C: calling it will tell
        return
    try:
        signature.bind("output")
    except TypeError as error:
        raise TypeError(
            f"the check '{name}' is called with the output, {name}{signature} cannot be: {error}"
        ) from None
