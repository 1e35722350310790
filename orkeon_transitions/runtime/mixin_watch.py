"""What the mixin keeps of one model: its counts, and the transitions that are under way."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerStatus, Repetition

if TYPE_CHECKING:
    from orkeon_transitions.runtime.mixin_models import WatchedModels

StatusListener = Callable[[CircuitBreakerStatus], Any]

_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Promise:
    """A transition that has passed the wall and is not written yet.

    A trigger that is fired in its `before` or `on_exit` is judged as though it were, or the two together
    would overrun the limit.

    Attributes:
        watch: Which keeps it in mind.
        entered: The state that it will enter; None: an internal one.
        caller: Who makes it. Other callers do not see it: on an async machine the later one cancels it.
        repetition: How often the row will have been taken with this payload, if that is counted.
    """

    watch: Watch
    entered: str | None
    caller: Any
    repetition: Repetition | None = None

    def close(self) -> None:
        """It was written, or given up."""
        if self in self.watch.promises:
            self.watch.promises.remove(self)


@dataclass(slots=True, eq=False)
class Watch:
    """One model's breaker.

    Attributes:
        counts: The running record, swapped whole.
        promises: What has passed the wall and is under way, the innermost last.
    """

    counts: BreakerCounts
    promises: list[Promise] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies without what is under way."""
        return Watch, (self.counts,)

    def promise(self, entered: str | None, caller: Any, repetition: Repetition | None = None) -> Promise:
        """Keeps a transition in mind until it is closed."""
        made = Promise(self, entered, caller, repetition)
        self.promises.append(made)
        return made

    def promised(self, caller: Any) -> list[Promise]:
        """The caller's transitions that are under way, the innermost last."""
        return [each for each in self.promises if each.caller is caller]

    def ahead(self, caller: Any) -> BreakerCounts:
        """The counts as they will be when the caller's transitions are written; the clocks as they are."""
        pending = self.promised(caller) if self.promises else ()
        if not pending:
            return self.counts
        visits = dict(self.counts.visits)
        for each in pending:
            if each.entered is not None:
                visits[each.entered] = visits.get(each.entered, 0) + 1
        return replace(self.counts, transitions=self.counts.transitions + len(pending), visits=visits)

    def written(self, dest: str | None, now: float, caller: Any) -> None:
        """Counts what was written; it fulfils the innermost promise."""
        counts = self.counts
        for innermost in self.promised(caller)[-1:]:
            innermost.close()
            if innermost.repetition is not None:
                counts = replace(counts, repeats={**counts.repeats, counts.state: innermost.repetition})
        self.counts = counts.moved(dest, now)

    def shifted(self, seconds: float) -> None:
        """Moves the clocks to another zero, so that time between pickling and unpickling is not counted."""
        since = self.counts.running_since
        self.counts = replace(
            self.counts,
            entered_at=self.counts.entered_at + seconds,
            running_since=None if since is None else since + seconds,
        )


class ModelBreaker:
    """What a model gets as `reset_circuit_breaker`: a callable that knows its machine.

    It holds the watch as well: triggers stay bound to a model that was removed from its machine, and guarded.
    """

    __slots__ = ("machine", "model", "watch")

    def __init__(self, machine: WatchedModels, model: Any, watch: Watch) -> None:
        self.machine = machine
        self.model = model
        self.watch = watch

    def __call__(self) -> None:
        """Gives the model a fresh budget; its state stays."""
        self.machine.reset_circuit_breaker(self.model)


class CircuitStatusView:
    """What a model's class gets as `circuit_status`: always the present status."""

    def __get__(self, model: Any, owner: type[Any] | None = None) -> Any:
        if model is None:
            return self
        breaker = getattr(model, "reset_circuit_breaker", None)
        if not isinstance(breaker, ModelBreaker):
            raise AttributeError(f"'{type(model).__name__}' object has no circuit breaker")
        return breaker.machine._breaker_status(model)


def show_status_on(model_cls: type[Any], is_override: bool) -> None:
    """Gives a model's class its `circuit_status`, by the same rule by which machines bind triggers.

    Args:
        model_cls: The class.
        is_override: The machine's `model_override`: True binds only what the class declares.
    """
    absent = object()
    present = inspect.getattr_static(model_cls, "circuit_status", absent)
    if isinstance(present, CircuitStatusView):
        return
    is_wanted = present is not absent if is_override else present is None or present is absent
    if not is_wanted:
        _LOGGER.warning("Skip binding of 'circuit_status' to %s due to model override policy.", model_cls)
        return
    try:
        model_cls.circuit_status = CircuitStatusView()
    except TypeError:  # a class written in C
        _LOGGER.warning("%s takes no attributes: ask the machine's get_circuit_status(model).", model_cls)
