"""The models of a guarded machine: each has a watch, and shows its breaker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from transitions.core import Machine, listify

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, CircuitBreakerStatus, StateClock
from orkeon_transitions.runtime.mixin_states import state_key
from orkeon_transitions.runtime.mixin_watch import ModelBreaker, Watch, show_status_on
from orkeon_transitions.runtime.spending import check_spending

if TYPE_CHECKING:
    _AnyMachine = Machine
else:
    _AnyMachine = object

CLOCK_RUNS = StateClock()


class WatchedModels(_AnyMachine):
    """The part of the mixin that keeps the models' records."""

    _breaker_policy: CircuitBreakerPolicy
    _breaker_clock: Callable[[], float]
    _breaker_watches: dict[int, Watch]

    def add_model(self, model: Any, initial: Any = None, *args: Any, **kwargs: Any) -> None:
        """Adds models, as `Machine.add_model` does; each begins with a budget of its own."""
        super().add_model(model, initial, *args, **kwargs)
        asked = [self if each is self.self_literal else each for each in listify(model)]
        # Those that are new stand last; the equal of another model is passed over.
        last = {id(each) for each in self.models[-max(len(asked), 1) :]}
        for each in asked:
            if id(each) in last and id(each) not in self._breaker_watches:
                self._breaker_watch(each)

    def remove_model(self, model: Any) -> None:
        """Removes models, as `Machine.remove_model` does; their triggers stay bound, and guarded."""
        super().remove_model(model)
        # Stock removes whatever equals the model; a record without its model could meet a reused id.
        present = {id(each) for each in self.models}
        self._breaker_watches = {key: each for key, each in self._breaker_watches.items() if key in present}

    @property
    def circuit_status(self) -> CircuitBreakerStatus:
        """The status of the machine as its own model, or of its only model.

        Raises:
            AttributeError: There are several other models; each of them has its own.
        """
        if id(self) in self._breaker_watches:
            return self._breaker_status(self)
        if len(self.models) != 1:
            raise AttributeError("several models: each has its own circuit_status")
        return self._breaker_status(self.models[0])

    def get_circuit_status(self, model: Any) -> CircuitBreakerStatus:
        """The status of one model.

        Raises:
            ValueError: The model does not belong to this machine.
        """
        return self._breaker_status(model)

    def report_spent(self, model: Any, /, **meters: float) -> None:
        """Adds to a model's meters, such as `tokens=812`; `model.spend(tokens=812)` is the same.

        Raises:
            TypeError: An amount is no number.
            ValueError: It is negative or infinite, its meter is nearly one of the policy's, or the model
                does not belong to this machine.
        """
        check_spending(self._breaker_policy, meters)
        watch = self._breaker_known(model)
        watch.counts = watch.counts.spending(meters)

    def reset_circuit_breaker(self, model: Any = None) -> None:
        """Gives a fresh budget: no trip, all counts cleared, the present state visited once; it stays.

        Args:
            model: Whose; None: that of every model.

        Raises:
            ValueError: The model does not belong to this machine.
        """
        for each in self.models if model is None else [model]:
            watch = self._breaker_known(each)
            watch.counts = watch.counts.reset(self._breaker_clock())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]  # always a mapping
        watches = state.pop("_breaker_watches")
        state["_breaker_pickled"] = [(each, watches[id(each)]) for each in self.models if id(each) in watches]
        state["_breaker_pickled_at"] = self._breaker_clock()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        pickled, then = state.pop("_breaker_pickled"), state.pop("_breaker_pickled_at")
        state["_breaker_watches"] = {id(model): watch for model, watch in pickled}
        stock = getattr(super(), "__setstate__", self.__dict__.update)
        stock(state)
        for _, watch in pickled:
            watch.shifted(self._breaker_clock() - then)

    def _breaker_key(self, state: Any) -> str:
        """The name under which a model's state is counted."""
        return state_key(self, state)

    def _breaker_find(self, model: Any) -> Watch | None:
        watch = self._breaker_watches.get(id(model))
        if watch is not None:
            return watch
        breaker = getattr(model, "reset_circuit_breaker", None)
        if isinstance(breaker, ModelBreaker) and breaker.machine is self:
            return breaker.watch
        return None

    def _breaker_known(self, model: Any) -> Watch:
        watch = self._breaker_find(model)
        if watch is None:
            raise ValueError(f"{model!r} is not a model of this machine")
        return watch

    def _breaker_status(self, model: Any) -> CircuitBreakerStatus:
        counts = self._breaker_known(model).counts
        return counts.status(self._breaker_policy, self._breaker_clock(), CLOCK_RUNS)

    def _breaker_watch(self, model: Any) -> None:
        """Begins to watch a model."""
        key = self._breaker_key(getattr(model, self.model_attribute))
        watch = Watch(BreakerCounts.fresh(key, self._breaker_clock()))
        self._breaker_watches[id(model)] = watch
        if self._breaker_policy.meters:
            self._checked_assignment(model, "spend", partial(self.report_spent, model))
        if model is not self:
            self._breaker_bind(model, watch)

    def _breaker_bind(self, model: Any, watch: Watch) -> None:
        bound = getattr(model, "reset_circuit_breaker", None)
        if isinstance(bound, ModelBreaker) and bound.machine is self:  # it was removed and comes back
            bound.watch = watch
            return
        self._checked_assignment(model, "reset_circuit_breaker", ModelBreaker(self, model, watch))
        if isinstance(getattr(model, "reset_circuit_breaker", None), ModelBreaker):
            show_status_on(type(model), self.model_override)
