"""What the processes of the contention and crash tests do: fire on a machine that others may have as well."""

import random

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import OrkeonError, StaleMachineError
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, MachineStore

RING = load_definition(
    {
        "name": "ring",
        "initial": "a",
        "states": ["a", "b", "c"],
        "transitions": [["next", "a", "b"], ["next", "b", "c"], ["next", "c", "a"]],
        "circuit_breaker": {
            "max_transitions": 0,
            "state_timeout": 0,
            "max_state_visits": 0,
            "max_total_duration": 0,
        },
    }
)
SHARED = "shared"


def contend(url, barrier, results, attempts):
    """Fires on the shared machine; whoever loses reloads and tries again."""
    won, lost, others = [], 0, []
    with MachineStore(url) as store:
        fsm = store.load(StateMachine, RING, SHARED)
        barrier.wait()
        for _ in range(attempts):
            try:
                won.append(fsm.fire("next").ordinal)
            except StaleMachineError:
                lost += 1
                fsm = store.load(StateMachine, RING, SHARED)
            except Exception as error:
                others.append(repr(error))
    results.put((won, lost, others))


def open_and_create(url, barrier, results, attempts):
    """Opens a database that may have no tables yet, and makes a machine that others make as well."""
    barrier.wait()
    made, there, others = 0, 0, []
    try:
        with MachineStore(url) as store:
            for number in range(attempts):
                try:
                    store.create(StateMachine, RING, machine_id=f"m{number}")
                    made += 1
                except OrkeonError as error:
                    if "load" in str(error):
                        there += 1
                    else:
                        others.append(repr(error))
    except Exception as error:
        others.append(repr(error))
    results.put((made, there, others))


def work_alone(url, barrier, results, attempts):
    """Fires on a machine of its own: nobody can lose."""
    others = []
    with MachineStore(url) as store:
        fsm = store.create(StateMachine, RING)
        barrier.wait()
        for _ in range(attempts):
            try:
                fsm.fire("next")
            except Exception as error:
                others.append(repr(error))
    results.put((fsm.machine_id, fsm.snapshot().ordinal, others))


def fire_until_killed(url, acknowledged):
    """Goes on with the shared machine, and tells of each transition after it was made."""
    with MachineStore(url) as store:
        fsm = store.load(StateMachine, RING, SHARED)
        while True:
            acknowledged.send(fsm.fire("next").ordinal)


def append_until_killed(path, ordinal, acknowledged):
    """The same with a journal of JSON lines: several machines, one after another, each with a few moves."""
    chance = random.Random(ordinal)
    with JsonlJournal(path) as journal:
        while True:
            ordinal += 1
            fsm = StateMachine(RING, machine_id=f"m{ordinal}")
            journal.record(fsm)
            for _ in range(chance.randrange(1, 20)):
                acknowledged.send((fsm.machine_id, fsm.fire("next").ordinal))
