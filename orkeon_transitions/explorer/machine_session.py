"""A machine that is fired by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition, check_definition
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer.asking import table_of, triggers_of
from orkeon_transitions.explorer.exporting import FORMATS, Moment, exported
from orkeon_transitions.explorer.forms import BadValueError
from orkeon_transitions.explorer.gauges import gauges_of
from orkeon_transitions.explorer.makers import DefinitionMaker, LiveMaker, Maker, ShippedMaker
from orkeon_transitions.explorer.orders import (
    BadOrderError,
    Export,
    Fire,
    Order,
    Reset,
    ResetBreaker,
    Rows,
    Seek,
    SetField,
    Undo,
)
from orkeon_transitions.explorer.pulse import Pulse
from orkeon_transitions.explorer.running import Run
from orkeon_transitions.explorer.scenery import Scenery
from orkeon_transitions.explorer.session import Session
from orkeon_transitions.explorer.showing import now_of, position_of, warnings_of
from orkeon_transitions.explorer.workers import Job, LoopWorker, PlainWorker, Worker, loop_of, settled
from orkeon_transitions.facts import error_text
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine

if TYPE_CHECKING:
    from orkeon_transitions.breaker import CircuitBreakerPolicy

GRACE = 0.25
PAUSE = 0.05
LONGEST_LOOK = 1.0
Machine = StateMachine[Any, Any] | AsyncStateMachine[Any, Any]
YOURS = "This is your own machine: what is fired here is fired there"
COPY = "This is a copy (a notebook has it as view.machine): your own machine stands where it was"


class MachineSession(Session):
    """A machine that one page fires by hand.

    Firing and asking guards is a worker's job, so that a callback that hangs stops nobody: the page says so,
    and a reset begins again with a fresh machine. Where a clock runs out while nothing is fired, a machine of
    the session's own trips, or takes its state's `on_timeout`, by itself.

    Args:
        subject: The name of a machine that ships, which is fired with its own guards and counters; a
            definition, each guard of which is a switch; or a machine of yours, which is followed and fired
            itself. Undoing goes on with a copy of it.
        source: The file that it came from.
        context: For a machine of yours: the class of the context that its guards judge, or an object of it.
        policy: The limits, in place of the machine's own; not for a machine of yours.
        clock: Monotonic seconds, for machines of the session's own.
        grace: Seconds for which `act` waits for what it asks of the worker; longer, and it is shown as busy.
    """

    def __init__(
        self,
        subject: str | MachineDefinition | Machine,
        *,
        source: str | None = None,
        context: Any = None,
        policy: CircuitBreakerPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
        grace: float = GRACE,
    ) -> None:
        super().__init__()
        live = subject if isinstance(subject, StateMachine | AsyncStateMachine) else None
        self._maker: Maker
        if live is not None:
            self._maker = LiveMaker(live, context)
        elif isinstance(subject, MachineDefinition):
            self._maker = DefinitionMaker(subject, clock, policy)
        else:
            self._maker = ShippedMaker(str(subject), clock, policy)
        self._source = source
        self._grace = grace
        # The step that is shown, None: the end, wherever that is; and the part of the log that was asked for.
        self._at: int | None = None
        self._window: Rows | None = None
        self._busy: tuple[str | None, float] | None = None
        self._loop = loop_of(live)
        self._pulse = Pulse(self._look_again, pause=PAUSE)
        self._run = Run(self._maker, self._heard, live)
        self._worker = self._new_worker()
        with self._lock:  # a picture that comes late waits until it has its place
            self._scenery = Scenery(self._maker.definition, self._show_picture)
        self._show()

    @property
    def machine(self) -> Any:
        """The machine that is fired now; another one after an undo or a reset."""
        return self._run.machine

    def close(self) -> None:
        """Lets the worker go, and follows no machine any more."""
        super().close()
        self._run.forget()
        self._pulse.close()
        self._worker.close()

    def check_clocks(self) -> None:
        """Lets a clock that has run out have its say now, as it has by itself a little later."""
        self._start(None, partial(self._checking, self._run))

    # ------------------------------------------------------------------------------------------- orders
    def _do(self, order: Order) -> dict[str, Any] | None:
        run = self._run
        match order:
            case Fire():
                self._refuse_if_busy()
                self._start(order.trigger, partial(self._firing, run, order))
            case SetField():
                self._set(order)
            case Undo():
                self._refuse_if_busy()
                self._start("undo", partial(self._changing, run, run.undo))
            case ResetBreaker():
                self._refuse_if_busy()
                self._start("reset_breaker", partial(self._changing, run, run.reset_breaker))
            case Reset():
                self._begin_again()
            case Seek():
                self._at = None if order.at >= run.way.last else order.at
                self._window = None
                self._start(None, partial(self._looking, run))
            case Rows():
                self._window = order
                self._publish({"log": self._log(run)})
            case Export():
                return self._exported(order.format)
            case _:
                raise BadOrderError(self._refusal(order))
        return None

    def _refuse_if_busy(self) -> None:
        if self._busy is not None:
            raise BadOrderError(f"'{self._busy[0]}' is still being made: a reset begins again without it")

    def _set(self, order: SetField) -> None:
        try:
            self._run.form.set(self.machine, order.field, order.value)
        except BadValueError as error:
            raise BadOrderError(str(error)) from None
        self._publish({"form": self._form()})
        self._start(None, partial(self._looking, self._run))

    def _exported(self, wanted: str) -> dict[str, Any]:
        run = self._run
        with run.lock:
            at = position_of(run.way, self._at)["at"]
            trip = run.machine.snapshot().trip if at == run.way.last else run.snapshot(at).trip
            broken = None if trip is None else trip.reason
            machine_id, definition = run.machine.machine_id, self._maker.definition
            moment = Moment.of(definition, run.way, at, machine_id=machine_id, broken=broken)
        return exported(wanted, moment, run.lines)

    def _begin_again(self) -> None:
        """Leaves the machine alone, and whoever is busy with it, and makes a fresh one."""
        try:
            run = Run(self._maker, self._heard)
        except Exception as error:  # a class of the user's that cannot be restored
            raise BadOrderError(error_text(error)) from error
        self._worker.close()
        self._run.forget()
        with self._lock:
            self._run = run
            self._worker = self._new_worker()
            self._at = self._window = self._busy = None
        self._show()

    # ---------------------------------------------------------------------------------------- the worker's
    def _new_worker(self) -> Worker:
        if isinstance(self._run.machine, AsyncStateMachine):
            return LoopWorker(self._loop)
        run = self._run
        return PlainWorker(partial(_patience, run), partial(self._checking, run))

    def _start(self, what: str | None, job: Job) -> None:
        """Lets the worker do something, and waits a little for it.

        Args:
            what: What the machine is busy with meanwhile; None: its guards are asked.
            job: What to do.
        """
        with self._lock:
            busy = (what, time.monotonic())
            if what is not None:
                self._busy = busy
            worker = self._worker
            future = worker.submit(partial(self._guarded, self._run, job, busy))
        if worker.is_here:
            timer = threading.Timer(self._grace, self._tell_busy, (future, busy))
            timer.daemon = True
            timer.start()
            future.add_done_callback(lambda _: timer.cancel())
            return
        try:
            future.exception(self._grace)
        except TimeoutError:
            self._tell_busy(future, busy)

    def _tell_busy(self, future: Future[None], busy: tuple[str | None, float]) -> None:
        with self._lock:
            if not future.done() and not self._closed:
                self._busy = self._busy or busy
                self._publish(self._way_seen(self._run))

    async def _guarded(self, run: Run, job: Job, busy: tuple[str | None, float]) -> None:
        """Does a job, which keeps the machine busy until it is done, whatever it raises."""
        try:
            await job()
        except Exception as error:  # noqa: BLE001 (it may be a stranger's: a constructor, a property)
            run.tell_problem(type(error).__name__, error_text(error))
        finally:
            with self._lock:
                if self._busy is busy:
                    self._busy = None
        await self._looking(run)

    async def _firing(self, run: Run, order: Fire) -> None:
        run.problem = None
        self._at = self._window = None
        try:
            context, payload = run.form.given(run.machine, order.trigger, order.context or {})
        except BadValueError as error:
            run.tell_problem("The form is not filled in", str(error))
            return
        try:
            await settled(run.machine.try_fire(order.trigger, context, **payload))
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 (a callback is a stranger's)
            run.tell_raised(order.trigger, error)

    async def _changing(self, run: Run, change: Callable[[], None]) -> None:
        self._at = self._window = run.problem = None
        change()
        if run is self._run:
            self._publish({"title": self._title()})

    async def _checking(self, run: Run) -> None:
        if run is self._run and not run.is_followed:
            with suppress(OrkeonError):  # it has tripped, as its breaker says
                await settled(run.machine.check_circuit())

    async def _looking(self, run: Run) -> None:
        traits = await self._seen(run)
        with self._lock:
            if run is self._run:
                self._publish(traits)

    def _heard(self) -> None:
        """A fact was taken down; what the session does itself is looked at when it is done."""
        if self._busy is None:
            self._pulse.want()

    def _look_again(self) -> None:
        """Something has happened to the machine: it may be nobody's order."""
        with self._lock:
            if not self._closed and self._busy is None:
                future = self._worker.submit(partial(self._looking, self._run))
            else:
                return
        with suppress(TimeoutError, CancelledError):
            # One look after another, however much happens meanwhile.
            future.exception(LONGEST_LOOK)

    # ------------------------------------------------------------------------------------------ what is seen
    def _show(self) -> None:
        definition = self._maker.definition
        self._publish(
            {
                "page": "machine",
                "title": self._title(),
                "picture": self._scenery.trait,
                "anomalies": warnings_of(check_definition(definition), definition.origin.file),
            }
        )
        self._start(None, partial(self._looking, self._run))

    def _show_picture(self) -> None:
        with self._lock:
            self._publish({"picture": self._scenery.trait})
        self._look_again()

    def _title(self) -> dict[str, Any]:
        definition, note = self._maker.definition, self._maker.definition.description
        is_copy = isinstance(self._maker, LiveMaker) and not self._run.is_followed
        if isinstance(self._maker, LiveMaker):
            note = COPY if is_copy else YOURS
        return {
            "name": definition.name,
            "machine_id": self.machine.machine_id,
            "kind": self._maker.kind,
            "source": self._source,
            "note": note,
            "is_copy": is_copy,
        }

    async def _seen(self, run: Run) -> dict[str, Any]:
        with run.lock:
            position = position_of(run.way, self._at)
            at, is_live = position["at"], position["live"]
            then, state, taken = run.snapshot(at), run.way.state(at), run.way.taken_next(at)
        try:
            machine = run.machine if is_live else run.copy(then)
        except Exception:  # noqa: BLE001 (a class of the user's that cannot be restored is only looked at)
            triggers, gauges = table_of(self._maker.definition, state, taken=taken), []
        else:
            triggers, gauges = await triggers_of(machine, run.form), gauges_of(machine)
        return {
            **self._way_seen(run),
            "triggers": triggers,
            "form": self._form(),
            "gauges": gauges,
            "can": {
                "fire": is_live,
                "undo": is_live and at > 0,
                "reset": True,
                "reset_breaker": is_live,
                "seek": position["last"] > 0,
                "edit": True,
                "export": list(FORMATS),
            },
        }

    def _way_seen(self, run: Run) -> dict[str, Any]:
        """What can be seen without asking the machine or its guards."""
        busy, problem = self._busy_trait(), run.problem
        with run.lock:
            position = position_of(run.way, self._at)
            return {
                "now": now_of(run.way, position["at"], self._scenery, busy=busy, problem=problem),
                "log": self._log(run),
                "position": position,
            }

    def _log(self, run: Run) -> dict[str, Any]:
        window = self._window
        with run.lock:
            if window is not None:
                return run.way.window(window.first, window.count)
            return run.way.window_at(position_of(run.way, self._at)["at"])

    def _form(self) -> Mapping[str, Any]:
        form = self._run.form
        return {"kind": form.kind, "fields": form.fields(self.machine)}

    def _busy_trait(self) -> dict[str, Any] | None:
        if self._busy is None:
            return None
        trigger, since = self._busy
        return {"trigger": trigger, "since_ms": round((time.monotonic() - since) * 1000)}


def _patience(run: Run) -> float | None:
    """How long the worker may sleep until a clock runs out that nobody else watches."""
    if run.is_followed:
        return None
    status = run.machine.circuit_status
    return None if status.is_broken or status.remaining is None else status.remaining.total_seconds()
