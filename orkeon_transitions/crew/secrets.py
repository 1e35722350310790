"""What a run was given and must not tell: keys of the environment, what MCP servers get, a model's own key.

Errors are told to models, kept in journals and shown in results, and any of them may quote what was sent. So
each text of one goes through `Secrets.hidden` where it becomes a text of the run, before anything cuts it:
half of a secret would not be known again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"
SHORTEST = 8
_NAMES_A_SECRET = re.compile(
    r"API[_-]?KEY|SECRET|AUTHORIZATION|COOKIE|(?:^|[_-])(?:KEY|TOKEN|PAT|PASSWORD|PASSWD)$", re.IGNORECASE
)


class Secrets:
    """Texts that nothing that a run tells may hold.

    A value of fewer than 8 characters is not hidden: it is no key worth its name, and words such as `true` or
    `8080` would vanish from texts that have nothing to do with it.

    Args:
        values: The texts. One that is made of several words counts with each of them, too: a header may be
            `Bearer <key>`.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        words = {word for value in values for word in (value.strip(), *value.split())}
        self._values = frozenset(word for word in words if len(word) >= SHORTEST)

    @classmethod
    def of_run(cls, environment: Mapping[str, str], given: Iterable[str] = (), model: Any = None) -> Secrets:
        """Those of one run.

        Args:
            environment: Its variables; those whose names say that they hold a secret count.
            given: What the crew's MCP servers get.
            model: Whom the program lets the crew ask; its `api_key` counts, where it has one.
        """
        own = getattr(model, "api_key", None)
        return cls(
            [
                *(value for name, value in environment.items() if names_a_secret(name)),
                *given,
                *([own] if isinstance(own, str) else []),
            ]
        )

    def hidden(self, text: str, mark: str = HIDDEN) -> str:
        """A text with a mark in place of each, however it is spelled there: as it is, in a URL, in JSON."""
        return text if self._pattern is None else self._pattern.sub(mark, text)

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        spelled = {spelling for value in self._values for spelling in _spellings(value)}
        # The longest first: one may begin like another.
        longest_first = sorted(spelled, key=lambda one: (-len(one), one))
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def names_a_secret(name: str) -> bool:
    """Whether the name of a variable or a header says that its value is a secret, such as `..._API_KEY`."""
    return _NAMES_A_SECRET.search(name) is not None


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="")
    yield quote(value)
    yield quote_plus(value)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]


NO_SECRETS = Secrets()
