"""A crew's run that is looked at while it goes on: its tasks, and the machine of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orkeon_transitions.diagrams import Scene, plan
from orkeon_transitions.explorer.asking import table_of
from orkeon_transitions.explorer.crew_watch import CrewWatch, TaskLine
from orkeon_transitions.explorer.exporting import FORMATS, Moment, exported
from orkeon_transitions.explorer.gauges import Gauge, entered_from, fullest, gauges, gauges_of
from orkeon_transitions.explorer.orders import BadOrderError, Export, Order, Rows, Seek, Select
from orkeon_transitions.explorer.pulse import Pulse
from orkeon_transitions.explorer.scenery import Drawing, Scenery
from orkeon_transitions.explorer.session import NOTHING_CAN, Session
from orkeon_transitions.explorer.showing import now_of, position_of, warnings_of
from orkeon_transitions.explorer.way import Way
from orkeon_transitions.machines import machine_definition

MACHINE = "task_execution"


class CrewSession(Session):
    """One page's look at a crew's run. Nothing is fired by hand here.

    Args:
        watch: What follows the run; several sessions may share it.
        hint: What to say as long as nothing has run.
    """

    def __init__(self, watch: CrewWatch, *, hint: str | None = None) -> None:
        super().__init__()
        self.watch = watch
        self._hint = hint
        self._ended: dict[str, dict[str, Any]] = {}
        # A picture that comes late waits until there is somebody to tell.
        with self._lock:
            self._scenery = Scenery(machine_definition(MACHINE), self.refresh)
            self._tasks = Drawing(self._drawn_plan, self.refresh)
            self._selected = next(iter(watch.lines), None)
            # Whether a person has chosen the task; until then it is the one that moved last.
            self._is_chosen = False
            self._at: int | None = None
            self._window: Rows | None = None
            self._publish({"page": "crew", "anomalies": warnings_of(watch.findings)})
            self._pulse = Pulse(self.refresh)
        self._unsubscribe = watch.subscribe(self._pulse.want)
        self.refresh()

    def view(self) -> dict[str, Any]:
        """All traits as they are at this moment."""
        self.refresh()
        return super().view()

    def close(self) -> None:
        """Stops looking."""
        self._unsubscribe()
        self._pulse.close()
        super().close()

    def refresh(self) -> None:
        """Looks at the run, and tells what has changed since the last look."""
        with self._lock:
            if not self._closed:
                with self.watch.lock:
                    traits = self._seen()
                self._publish(traits)

    # ------------------------------------------------------------------------------------------- orders
    def _do(self, order: Order) -> dict[str, Any] | None:
        match order:
            case Select(machine=task):
                if task not in self.watch.lines:
                    raise BadOrderError(f"the crew has no task '{task}'")
                self._selected, self._is_chosen = task, True
                self._at = self._window = None
            case Seek(at=at):
                self._at = None if at >= self._traits["position"]["last"] else at
                self._window = None
            case Rows():
                self._window = order
            case Export():
                return self._exported(order.format)
            case _:
                raise BadOrderError(self._refusal(order))
        self.refresh()
        return None

    def _exported(self, wanted: str) -> dict[str, Any]:
        with self.watch.lock:
            line = self.watch.lines.get(self._selected or "")
            if line is None or line.way is None or line.machine is None:
                raise BadOrderError("no machine has been made for this task yet")
            at = position_of(line.way, self._at)["at"]
            moment = Moment.of(
                self._scenery.definition,
                line.way,
                at,
                machine_id=line.machine.machine_id,
                broken=line.circuits[at].broken_reason,
            )
            lines = line.lines()
        return exported(wanted, moment, lambda: lines)

    # ------------------------------------------------------------------------------------------ what is seen
    def _seen(self) -> dict[str, Any]:
        if not self._is_chosen:
            self._selected = self._busiest()
        line = self.watch.lines.get(self._selected or "")
        shown = Way(self._scenery.definition.initial) if line is None or line.way is None else line.way
        position = position_of(shown, self._at)
        at = position["at"]
        window = self._window
        return {
            "title": self._title(line),
            "picture": self._scenery.trait,
            "now": now_of(shown, at, self._scenery, problem=_problem(line)),
            "triggers": table_of(self._scenery.definition, shown.state(at), taken=shown.taken_next(at)),
            "gauges": [] if line is None else self._gauges(line, position),
            "log": shown.window() if window is None else shown.window(window.first, window.count),
            "position": position,
            "can": {
                **NOTHING_CAN,
                "seek": position["last"] > 0,
                "export": [] if line is None or line.way is None else list(FORMATS),
            },
            "machines": [self._machine(each) for each in self.watch.lines.values()],
            "crew": self._crew(),
        }

    def _busiest(self) -> str | None:
        """The task to show as long as nobody has chosen: one that runs, else the last that did."""
        lines = self.watch.lines.values()
        running = [line.task for line in lines if line.status == "running"]
        ended = [line.task for line in lines if line.took is not None]
        if self._selected in running:
            return self._selected
        return next(iter(running or ended[-1:]), self._selected)

    def _title(self, line: TaskLine | None) -> dict[str, Any]:
        machine = None if line is None else line.machine
        note = None if line is None else line.description or None
        if line is not None and line.attempt > 1:
            note = f"attempt {line.attempt}" + (f": {note}" if note else "")
        return {
            "name": self.watch.name,
            "machine_id": None if machine is None else machine.machine_id,
            "kind": "crew",
            "source": self.watch.source,
            "note": note,
        }

    def _gauges(self, line: TaskLine, position: Mapping[str, Any]) -> list[Gauge]:
        machine = line.machine
        if machine is None or line.way is None:
            return []
        if position["live"]:
            shown = gauges_of(machine)
            return shown if line.result is None else [gauge | {"running": False} for gauge in shown]
        state = line.way.state(position["at"])
        status = line.circuits[position["at"]]
        ended = state in machine.definition.final_states
        ways = entered_from(machine.definition, state)
        clock = machine._state_clock(state)
        return gauges(status, state, clock, standing=True, ended=ended, leads_to=ways)

    def _machine(self, line: TaskLine) -> dict[str, Any]:
        # What has ended stands still, and a crew may have many tasks.
        row = self._ended.get(line.task) or self._row(line)
        if line.result is not None:
            self._ended[line.task] = row
        return row | {"selected": line.task == self._selected}

    def _row(self, line: TaskLine) -> dict[str, Any]:
        machine, usage = line.machine, line.usage
        context = None if machine is None else machine.guard_context
        seconds = self.watch.seconds_of(line)
        return {
            "id": line.task,
            "label": line.task,
            "state": line.state,
            "anomalies": 0,
            "agent": line.agent or None,
            "status": line.status,
            "tool_calls": usage.tool_calls if context is None else context.tool_call_count,
            "tool_budget": None if context is None else context.max_tool_calls_per_round,
            "tokens": usage.tokens,
            "seconds": None if seconds is None else round(seconds, 3),
            "gauge": None if machine is None else fullest(gauges_of(machine)),
            "needs": list(line.needs),
            "attempt": line.attempt,
            "words": line.words,
        }

    def _drawn_plan(self, prefix: str) -> Scene:
        drawn = self.watch.plan
        return plan(drawn.boxes, drawn.arrows, drawn.title, caption=drawn.caption, prefix=prefix)

    def _crew(self) -> dict[str, Any]:
        watch, usage = self.watch, self.watch.usage
        result = watch.result
        summary = None if result is None else result.error or result.output or None
        if not watch.is_running and result is None:
            summary = self._hint
        return {
            "status": watch.status,
            "process": watch.process,
            "svg": None if self._tasks.scene is None else self._tasks.scene.svg,
            "boxes": {} if self._tasks.scene is None else dict(self._tasks.scene.states),
            "tokens": usage.tokens,
            "requests": usage.requests,
            "cost": usage.usd,
            "seconds": round(watch.seconds, 3),
            "running": watch.is_running,
            "summary": summary,
        }


def _problem(line: TaskLine | None) -> dict[str, str] | None:
    if line is None or line.result is None or not line.result.error:
        return None
    return {"title": f"'{line.task}' {line.status}", "text": line.result.error}
