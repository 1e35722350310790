"""The machine that the suite moves: every kind of row, fields that count, and callbacks that fail."""

import asyncio

from orkeon_transitions.definition import load_definition
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine

WORK = load_definition(
    {
        "name": "work",
        "initial": "waiting",
        "degraded": "spent",
        "circuit_breaker": {
            "max_transitions": 0,
            "state_timeout": 0,
            "max_state_visits": 0,
            "max_total_duration": 0,
        },
        "states": [
            {"name": "waiting", "timeout": 0, "on_exit": "leave"},
            {"name": "working", "on_enter": "arrive"},
            {"name": "done", "final": True},
            {"name": "spent", "final": True},
        ],
        "transitions": [
            {"trigger": "begin", "source": "waiting", "dest": "working"},
            {"trigger": "progress", "source": "working", "dest": None, "repeatable": False},
            {"trigger": "again", "source": "working", "dest": "="},
            {"trigger": "pause", "source": "working", "dest": "waiting"},
            {"trigger": "stumble", "source": "working", "dest": "waiting", "after": "fall"},
            {"trigger": "balk", "source": "working", "dest": "waiting", "before": "fall"},
            {"trigger": "rush", "source": "waiting", "dest": "working", "after": "go_on"},
            {"trigger": "finish", "source": "working", "dest": "done", "conditions": "is_good"},
            {"trigger": "stop", "source": "*", "dest": "done", "always": True},
        ],
        "guards": {"is_good": "The work is good"},
    }
)


class WorkRules:
    """What plain and async machines share. `watched` is called whenever a state was left or entered."""

    persisted = ("title", "begun", "parts")

    def __init__(self, *args, watched=None, **options):
        self.title = None
        self.begun = 0
        self.parts = set()
        self.watched = watched
        super().__init__(*args, **options)

    def is_good(self, event):
        return bool(event.payload.get("good"))

    def leave(self, event):
        if self.watched is not None:
            self.watched("left")

    def arrive(self, event):
        if self.watched is not None:
            self.watched("entered")

    def fall(self, event):
        raise LookupError("the floor is gone")

    def _fields_after(self, event):
        return {"begun": self.begun + 1} if event.trigger in {"begin", "rush"} else {}


class Work(WorkRules, StateMachine):
    """The plain machine."""

    def go_on(self, event):
        self.fire("progress")
        self.fire_later("pause")


class AsyncWork(WorkRules, AsyncStateMachine):
    """The async machine."""

    async def go_on(self, event):
        await asyncio.sleep(0)
        await self.fire("progress")
        self.fire_later("pause")


def told(records):
    """What the suite compares of some records."""
    return [
        (r.fact, r.trigger, r.from_state, r.to_state, r.ordinal, r.transition_count, r.degraded, r.broken)
        for r in records
    ]


def at_rest(snapshot):
    """What must be the same in two snapshots, whatever the clock and the place."""
    return snapshot.model_dump(mode="json", exclude={"taken_at", "time_in_state", "active_time"})
