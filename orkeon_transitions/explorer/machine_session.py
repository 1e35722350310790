"""A machine that is fired by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.explorer.asking import triggers_of
from orkeon_transitions.explorer.forms import BadValueError
from orkeon_transitions.explorer.gauges import gauges_of
from orkeon_transitions.explorer.makers import DefinitionMaker, Maker
from orkeon_transitions.explorer.orders import (
    BadOrderError,
    Fire,
    Order,
    Reset,
    ResetBreaker,
    Rows,
    Seek,
    SetField,
    Undo,
)
from orkeon_transitions.explorer.running import Run
from orkeon_transitions.explorer.scenery import Scenery
from orkeon_transitions.explorer.session import Session
from orkeon_transitions.explorer.showing import now_of, position_of
from orkeon_transitions.explorer.workers import Job, Worker, settled

GRACE = 0.25


class MachineSession(Session):
    """A machine of a definition, fired by hand; each guard is a switch.

    Firing and asking guards is a worker's job, so that a callback that hangs stops nobody: the page says so,
    and a reset begins again with a fresh machine.

    Args:
        subject: The definition.
        source: The file that it came from, for the title.
        clock: Monotonic seconds.
        grace: Seconds that `act` waits for what it has asked for, before it is shown as busy.
    """

    def __init__(
        self,
        subject: MachineDefinition,
        *,
        source: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        grace: float = GRACE,
    ) -> None:
        super().__init__()
        self._maker: Maker = DefinitionMaker(subject, clock)
        self._source = source
        self._clock = clock
        self._grace = grace
        self._scenery = Scenery(subject)
        self._worker = Worker()
        self._busy: tuple[str, float] | None = None
        # The step that is shown; None: the end, wherever that is.
        self._at: int | None = None
        self._run = Run(self._maker)
        self._show()

    @property
    def machine(self) -> Any:
        """The machine that is fired now; another one after an undo or a reset."""
        return self._run.machine

    def close(self) -> None:
        """Lets the worker go."""
        super().close()
        self._worker.close()

    # ------------------------------------------------------------------------------------------- orders
    def _do(self, order: Order) -> dict[str, Any] | None:
        match order:
            case Fire():
                self._refuse_if_busy()
                self._start(order.trigger, partial(self._firing, self._run, order))
            case SetField():
                self._set(order)
            case Undo():
                self._refuse_if_busy()
                self._start(None, partial(self._undoing, self._run))
            case ResetBreaker():
                self._refuse_if_busy()
                self._start(None, partial(self._resetting, self._run))
            case Reset():
                self._begin_again()
            case Seek():
                self._at = None if order.at >= self._run.way.last else order.at
                self._start(None, partial(self._looking, self._run))
            case Rows():
                self._publish({"log": self._run.way.window(order.first, order.count)})
            case _:
                raise BadOrderError(self._refusal(order))
        return None

    def _refuse_if_busy(self) -> None:
        if self._busy is not None:
            raise BadOrderError(f"'{self._busy[0]}' is still being made: a reset begins again")

    def _set(self, order: SetField) -> None:
        try:
            self._run.form.set(order.field, order.value)
        except BadValueError as error:
            raise BadOrderError(str(error)) from None
        self._publish({"form": self._form()})
        self._start(None, partial(self._looking, self._run))

    # ---------------------------------------------------------------------------------------- the worker's
    def _begin_again(self) -> None:
        self._worker.close()
        with self._lock:
            self._worker, self._run = Worker(), Run(self._maker)
            self._busy = self._at = None
        self._show()

    def _show(self) -> None:
        definition = self._maker.definition
        self._publish(
            {
                "page": "machine",
                "title": {
                    "name": definition.name,
                    "machine_id": self._run.machine.machine_id,
                    "kind": self._maker.kind,
                    "source": self._source,
                    "note": definition.description,
                },
                "picture": self._scenery.trait,
            }
        )
        self._start(None, partial(self._looking, self._run))

    def _start(self, trigger: str | None, job: Job) -> None:
        busy = None if trigger is None else (trigger, self._clock())
        with self._lock:
            self._busy = busy or self._busy
            future = self._worker.submit(job)
        self._wait(future, busy)

    def _wait(self, future: Future[None], busy: tuple[str, float] | None) -> None:
        try:
            future.result(self._grace)
        except TimeoutError:
            with self._lock:
                if busy is not None and self._busy is busy:
                    self._publish({"now": self._traits["now"] | {"busy": self._busy_trait()}})

    async def _firing(self, run: Run, order: Fire) -> None:
        try:
            context, payload = run.form.given(order.context)
            run.problem = None
            await settled(run.machine.try_fire(order.trigger, context, **payload))
        except BadValueError as error:
            run.tell_problem("The form is not complete", str(error))
        except Exception as error:  # noqa: BLE001 (a callback is a stranger's code)
            run.tell_raised(order.trigger, error)
        self._at = None
        await self._finished(run)

    async def _undoing(self, run: Run) -> None:
        run.undo()
        self._at = None
        await self._finished(run)

    async def _resetting(self, run: Run) -> None:
        run.machine.reset_circuit_breaker()
        await self._finished(run)

    async def _finished(self, run: Run) -> None:
        with self._lock:
            if run is self._run:
                self._busy = None
        await self._looking(run)

    async def _looking(self, run: Run) -> None:
        traits = await self._traits_of(run)
        with self._lock:
            if run is self._run:
                self._publish(traits)

    async def _traits_of(self, run: Run) -> dict[str, Any]:
        way, position = run.way, position_of(run.way, self._at)
        at, is_live = position["at"], position["live"]
        machine = run.machine if is_live else run.copy(at)
        try:
            context, payload = run.form.given()
        except BadValueError:
            context, payload = None, {}
        return {
            "now": now_of(way, at, self._scenery, busy=self._busy_trait(), problem=run.problem),
            "triggers": await triggers_of(machine, context, payload),
            "form": self._form(),
            "gauges": gauges_of(machine),
            "log": way.window(),
            "position": position,
            "can": {
                "fire": is_live,
                "undo": is_live and at > 0,
                "reset": True,
                "reset_breaker": is_live,
                "seek": position["last"] > 0,
                "edit": True,
                "export": [],
            },
        }

    def _form(self) -> Mapping[str, Any]:
        return {"kind": self._run.form.kind, "fields": self._run.form.fields()}

    def _busy_trait(self) -> dict[str, Any] | None:
        if self._busy is None:
            return None
        trigger, since = self._busy
        return {"trigger": trigger, "since_ms": round((self._clock() - since) * 1000)}
