"""Checked by mypy, never run: what a store gives is of the class that was asked for."""

from typing import assert_type

from orkeon_transitions import StateMachine, TaskExecution
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.machines import AsyncTaskExecution, TaskState
from orkeon_transitions.store import MachineStore, StoredMachine

with MachineStore("sqlite:///machines.db", synchronous="FULL") as store:
    assert_type(store, MachineStore)
    task = store.create(TaskExecution, machine_id="t1")
    assert_type(task, TaskExecution)
    assert_type(task.state, TaskState)
    assert_type(store.load(TaskExecution, "t1", migrate={"old": TaskState.FAILED}), TaskExecution)
    store.load(StateMachine, {"name": "m"}, "t1")
    assert_type(store.machines(state=TaskState.FAILED, idle_for=60), list[StoredMachine])
    store.save(task)
    store.record(task)


def fresh(snapshot: Snapshot) -> Snapshot:
    return snapshot


async def in_a_loop() -> None:
    task = await store.load_async(AsyncTaskExecution, "t1", migrate=fresh)
    assert_type(task, AsyncTaskExecution)
    await store.save_async(task)
