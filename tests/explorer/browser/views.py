"""Views as Python gives them, made by hand: what the front end is shown in its own tests."""

from functools import cache

from orkeon_transitions.definition import load_definition
from orkeon_transitions.diagrams import to_svg
from orkeon_transitions.diagrams.names import safe_names
from orkeon_transitions.machines import machine_definition

NOTHING_CAN = {
    "fire": False,
    "undo": False,
    "reset": False,
    "reset_breaker": False,
    "seek": False,
    "edit": False,
}

WHY = "refused by guard 'can_call_tool' (needed: Tool call within the round's budget and tool is registered)"


def title(name, kind="", machine_id=None, source=None, note=None, *, is_copy=False):
    said = {"note": note, "is_copy": is_copy}
    return {"name": name, "machine_id": machine_id, "kind": kind, "source": source} | said


def empty(page):
    """A view that has nothing to show yet."""
    return {
        "page": page,
        "title": title(""),
        "picture": {"svg": None, "drawing": False, "problem": None, "states": [], "arrows": []},
        "now": {
            "state": None, "visits": {}, "taken": [], "last": None, "ended": False, "degraded": False,
            "busy": None, "problem": None,
        },
        "triggers": [],
        "form": {"kind": "none", "fields": []},
        "gauges": [],
        "log": {"total": 0, "first": 0, "rows": []},
        "position": {"at": 0, "last": 0, "live": True},
        "can": NOTHING_CAN | {"export": []},
        "machines": [],
        "crew": None,
        "problems": [],
        "anomalies": [],
    }  # fmt: skip


@cache
def picture(name):
    """The picture of a shipped machine, or of a ring of so many states."""
    return picture_of(ring(name) if isinstance(name, int) else machine_definition(name))


def picture_of(definition):
    keys = safe_names(definition.states_by_name)
    arrows = {}
    for row in definition.transitions:
        for source in (None,) if row.source == ("*",) else row.source:
            dest = source if row.dest in (None, "=") else row.dest
            arrows.setdefault((source, dest), []).append(row.trigger)
    return {
        "svg": to_svg(definition),
        "drawing": False,
        "problem": None,
        "states": [
            {
                "name": state.name, "label": state.name, "description": state.description,
                "element": f"state-{keys[state.name]}", "initial": state.name == definition.initial,
                "final": state.final, "degraded": state.name == definition.degraded,
            }
            for state in definition.states
        ],
        "arrows": [
            {
                "element": f"arrow-{keys.get(source, 'any')}-{keys.get(dest, 'any')}",
                "from": source, "to": dest, "triggers": triggers,
            }
            for (source, dest), triggers in arrows.items()
        ],
    }  # fmt: skip


def ring(count):
    """A machine of many states, each of which leads to the next and to one far away."""
    names = [f"station_{number:03}" for number in range(count)]
    rows = [["go_on", name, names[(index + 1) % count]] for index, name in enumerate(names)]
    rows += [["leap", names[index], names[(index + 37) % count]] for index in range(0, count, 11)]
    return load_definition(
        {"name": f"ring_of_{count}", "initial": names[0], "states": names, "transitions": rows}
    )


def trigger(name, to=(), why=None, kind=None, description=None, **more):
    return {
        "name": name, "permitted": why is None, "why": why, "kind": kind, "to": list(to),
        "description": description, **more,
    }  # fmt: skip


def gauge(limit, label, used, allowed, unit="", *, broken=False, running=False):
    return {
        "limit": limit, "label": label, "used": used, "allowed": allowed, "unit": unit, "broken": broken,
        "running": running, "words": f"{used} of {allowed}",
    }  # fmt: skip


def field(name, kind, value, default, label=None, description=None, choices=None, error=None):
    return {
        "name": name, "label": label or name.replace("_", " "), "type": kind, "required": True,
        "value": value, "default": default, "choices": choices, "description": description, "error": error,
    }  # fmt: skip


def row(n, kind, name, source, to, words="", position=None):
    return {
        "n": n, "kind": kind, "trigger": name, "from": source, "to": to, "position": position, "words": words,
        "time": f"2026-03-02T09:{n // 60 % 60:02}:{n % 60:02}Z",
    }  # fmt: skip


def machine():
    """A task that has called a tool and may not call another."""
    elsewhere = [
        "start_planning", "begin_execution", "tool_call_completed", "tool_call_failed", "skip_tool_call",
        "validation_passed", "validation_failed", "human_input_received", "retry",
    ]  # fmt: skip
    return empty("machine") | {
        "title": title(
            "task_execution", "task life cycle", "b7f1c2",
            note="The execution of one task, from its assignment to its end. The agent does the work.",
        ),
        "picture": picture("task_execution"),
        "now": empty("machine")["now"] | {
            "state": "executing",
            "visits": {"assigned": 1, "planning": 1, "executing": 2, "tool_calling": 1},
            "taken": [
                "arrow-assigned-planning", "arrow-planning-executing", "arrow-executing-tool_calling",
                "arrow-tool_calling-executing",
            ],
            "last": "arrow-tool_calling-executing",
        },
        "triggers": [
            trigger("request_tool_call", ["tool_calling"], WHY, "guard",
                    "The same tool with the same arguments over and over is a runaway"),
            trigger("submit_for_validation", ["validating"]),
            trigger("request_human_input", ["waiting_for_human_input"]),
            trigger("fail", ["failed"]),
            trigger("cancel", ["cancelled"], description="Whoever cancels must be able to"),
            *(
                trigger(name, why="not from here: only from tool_calling", kind="invalid", elsewhere=True)
                for name in elsewhere
            ),
        ],
        "form": {
            "kind": "typed",
            "fields": [
                field("retry_count", "integer", 0, 0),
                field("max_retries", "integer", 3, 3),
                field("tool_call_count", "integer", 10, 0, description="Calls in this round"),
                field("max_tool_calls_per_round", "integer", 10, 10),
                field("is_tool_registered", "boolean", True, True),
                field("mode", "choice", "fast", "fast", choices=["fast", "thorough"]),
                field("note", "string", "", ""),
                field("arguments", "json", {"query": "parsers"}, {"query": "parsers"}),
            ],
        },
        "gauges": [
            gauge("max_transitions", "Transitions", 4, 330),
            gauge("state_timeout", "Time in executing", 41.5, 120, "s", running=True),
            gauge("max_state_visits", "Visits of executing", 88, 110),
            gauge("max_total_duration", "Time in all", 75, 600, "s", running=True),
            gauge("meters:tokens", "tokens", 8120, None, "tokens"),
        ],
        "log": {
            "total": 6,
            "first": 0,
            "rows": [
                row(1, "made", "start_planning", "assigned", "planning", position=1),
                row(2, "made", "begin_execution", "planning", "executing", position=2),
                row(3, "refused", "validation_passed", "executing", None,
                    "there is no such transition here", 2),
                row(4, "made", "request_tool_call", "executing", "tool_calling", position=3),
                row(5, "made", "tool_call_completed", "tool_calling", "executing", "It answered", 4),
                row(6, "refused", "request_tool_call", "executing", None, WHY, 4),
            ],
        },
        "position": {"at": 4, "last": 4, "live": True},
        "can": {
            "fire": True, "undo": True, "reset": True, "reset_breaker": True, "seek": True, "edit": True,
            "export": ["png", "svg", "jsonl"],
        },
    }  # fmt: skip


def tripped():
    """The same, stopped by its breaker."""
    view = machine()
    why = "Max transitions exceeded (330/330): the circuit is broken"
    return view | {
        "now": view["now"] | {"state": "degraded", "visits": view["now"]["visits"] | {"degraded": 1},
                              "degraded": True, "ended": True, "last": None},
        "triggers": [trigger(one["name"], [], why, "terminal", elsewhere=True) for one in view["triggers"]],
        "gauges": [gauge("max_transitions", "Transitions", 330, 330, broken=True), *view["gauges"][1:]],
        "log": {
            "total": 8, "first": 0,
            "rows": [
                *view["log"]["rows"],
                row(7, "broken", None, "executing", None, "Max transitions exceeded (330/330)", 4),
                row(8, "degraded", "fail", "executing", "degraded", "The breaker moved the machine", 5),
            ],
        },
        "position": {"at": 5, "last": 5, "live": True},
    }  # fmt: skip


def failing():
    """A callback raised, and another one hangs."""
    view = machine()
    problem = {
        "title": "'tool_call_completed' raised ValueError",
        "text": "on_enter of 'executing': no such tool: 'grep'",
    }
    return view | {"now": view["now"] | {"problem": problem, "busy": {"trigger": "fail", "since_ms": 9500}}}


def large():
    """A machine of 300 states, in the middle of a walk."""
    visits = {f"station_{number:03}": 1 for number in range(40)} | {"station_007": 12}
    return machine() | {
        "title": title("ring_of_300", "state machine", machine_id="m1", source="ring.yaml"),
        "picture": picture(300),
        "now": empty("machine")["now"] | {"state": "station_039", "visits": visits, "taken": [
            f"arrow-station_{number:03}-station_{number + 1:03}" for number in range(39)
        ], "last": "arrow-station_038-station_039"},
        "triggers": [
            trigger("go_on", ["station_040"]),
            trigger("leap", why="not from here", kind="invalid", elsewhere=True),
        ],
        "form": {"kind": "none", "fields": []},
    }  # fmt: skip


def unpicturable():
    """A machine whose picture cannot be drawn."""
    view = machine()
    problem = "There is no Graphviz: pip install 'orkeon-transitions[diagrams]'"
    return view | {"picture": view["picture"] | {"svg": None, "problem": problem}}


def journal():
    """A long journal of three agents, in its middle."""
    view = machine()
    names = ["receive_task", "plan_ready", "call_tool", "tool_result"]
    ways = ["idle", "planning", "executing", "waiting", "executing"]
    rows = [
        row(n, "made", names[(n - 1) % 4], ways[(n - 1) % 4], ways[(n - 1) % 4 + 1], position=n)
        for n in range(481, 521)
    ]
    return view | {
        "page": "journal",
        "title": title("hermes_agent", "journal", machine_id="s-1", source="run.jsonl"),
        "picture": picture("hermes_agent"),
        "now": empty("journal")["now"] | {
            "state": "waiting", "visits": {"idle": 1, "planning": 12, "executing": 240, "waiting": 131},
            "taken": ["arrow-idle-planning", "arrow-planning-executing", "arrow-executing-waiting"],
            "last": "arrow-executing-waiting",
        },
        "triggers": [],
        "form": {"kind": "none", "fields": []},
        "log": {"total": 10_000, "first": 480, "rows": rows},
        "position": {"at": 503, "last": 10_000, "live": False},
        "can": NOTHING_CAN | {"seek": True, "export": ["svg", "jsonl"]},
        "machines": [
            {"id": "s-1", "label": "s-1", "state": "waiting", "anomalies": 2, "selected": True},
            {"id": "s-2", "label": "s-2", "state": "completed", "anomalies": 0, "selected": False},
            {"id": "s-3", "label": "s-3", "state": "error", "anomalies": 1, "selected": False},
        ],
        "anomalies": [
            {
                "code": "many-waits", "message": "'waiting' was entered 131 times", "place": "run.jsonl:503",
                "position": 503,
            },
            {"code": "gap", "message": "ordinal 611 is missing", "place": "run.jsonl:612", "position": 611},
        ],
    }  # fmt: skip


CREW_YAML = """
name: research crew
initial: collect
states: [collect, read, compare, draft, review]
transitions:
  - [next, collect, read]
  - [next, collect, compare]
  - [next, read, draft]
  - [next, compare, draft]
  - [next, draft, review]
"""


def crew():
    """A crew at work: two tasks done, one degraded, one under way, one waiting."""
    view = machine()

    def visited(times):
        return gauge("max_state_visits", "Visits of executing", times, 20)

    def task(name, status, state, **more):
        return {
            "id": name, "label": name, "state": state, "status": status, "anomalies": 0,
            "agent": "researcher", "tool_calls": 3, "tool_budget": 10, "tokens": 2140, "seconds": 12.4,
            "selected": False, "gauge": visited(6),
        } | more  # fmt: skip

    drawn = picture_of(load_definition(CREW_YAML))
    return view | {
        "page": "crew",
        "title": title("research crew", "crew", source="crew.yaml"),
        "triggers": [],
        "form": {"kind": "none", "fields": []},
        "machines": [
            task("collect", "completed", "completed"),
            task("read", "degraded", "degraded", gauge=visited(20), agent="reader"),
            task("compare", "completed", "completed", tokens=12_950, seconds=0.008, gauge=visited(16)),
            task("draft", "in_progress", "executing", agent="writer with a rather long name", selected=True),
            task("review", "pending", "assigned", tool_calls=0, tokens=0, seconds=None, gauge=visited(0)),
            task("publish", "failed", "failed", agent="editor"),
        ],
        "crew": {
            "status": "executing", "process": "hierarchical", "svg": drawn["svg"],
            "boxes": {state["name"]: state["element"] for state in drawn["states"]},
            "tokens": 17_230, "requests": 21, "cost": 0.0412, "seconds": 83.0, "running": True,
            "summary": None,
        },
        "can": NOTHING_CAN | {"seek": True, "export": ["svg", "jsonl"]},
    }  # fmt: skip


def problems():
    """A crew file with three problems."""
    return empty("problems") | {
        "title": title("crew.yaml", "crew", source="crew.yaml"),
        "problems": [
            {
                "place": "crew.yaml:12:12", "line": 12, "column": 12, "hint": "researcher",
                "message": "task 'collect' names the agent 'reseacher', which does not exist",
                "excerpt": [
                    {"line": 10, "text": "tasks:", "here": False},
                    {"line": 11, "text": "  - id: collect", "here": False},
                    {"line": 12, "text": "    agent: reseacher", "here": True},
                    {"line": 13, "text": "    description: Collect <b>parsers</b> of {topic}", "here": False},
                ],
            },
            {
                "place": "crew.yaml:20:3", "line": 20, "column": 3, "hint": None,
                "message": "the tasks wait for each other: draft -> review -> draft",
                "excerpt": [
                    {"line": 20, "text": "  dependencies: [review]  # " + "long remark " * 14, "here": True},
                ],
            },
            {
                "place": "crew.yaml", "line": None, "column": None, "hint": None,
                "message": "no process is given", "excerpt": [],
            },
        ],
    }  # fmt: skip


PAGES = {
    "machine": machine,
    "tripped": tripped,
    "failing": failing,
    "large": large,
    "unpicturable": unpicturable,
    "journal": journal,
    "crew": crew,
    "problems": problems,
    "loading": lambda: empty("loading"),
}
