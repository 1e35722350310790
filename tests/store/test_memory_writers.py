"""A `MEMORY.md` that several write, some of whom die on the way."""

import multiprocessing
import threading
import time

import pytest

from orkeon_transitions.machines import HermesAgentFSM
from orkeon_transitions.store.disk import lock_file
from orkeon_transitions.store.memory_file import recall_all, remember

OTHERS = "likes short answers\n§\nuses Debian,\nand vim"


@pytest.fixture
def memory(tmp_path):
    path = tmp_path / "MEMORY.md"
    path.write_bytes(OTHERS.encode())
    return path


@pytest.fixture
def agent():
    agent = HermesAgentFSM("s1")
    agent.receive_task(task="compare")
    return agent


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_held_lock_is_waited_for(memory, agent):
    held, done = threading.Event(), threading.Event()

    def hold():
        with lock_file(memory.with_name("MEMORY.md.lock"), 5):
            held.set()
            done.wait(5)
            memory.write_text("changed meanwhile")

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(5)
    threading.Timer(0.1, done.set).start()
    entry = remember(agent, memory, lock_timeout=5)
    holder.join()
    assert memory.read_text() == f"changed meanwhile\n§\n{entry}"


def _remember_often(path, name, times, barrier):
    barrier.wait()
    agent = HermesAgentFSM(name)
    for number in range(times):
        if number % 2:
            agent.planning_failed()
            agent.abort()
        else:
            agent.receive_task(task=f"task {number} of {name}")
        remember(agent, path)


def test_processes_that_write_at_once_lose_nothing(memory):
    spawn = multiprocessing.get_context("spawn")
    names = [f"session-{number}" for number in range(4)]
    barrier = spawn.Barrier(len(names))
    workers = [spawn.Process(target=_remember_often, args=(memory, name, 12, barrier)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * len(names)
    assert memory.read_text().startswith(f"{OTHERS}\n§\norkeon-session ")
    pointers = recall_all(memory)
    assert sorted(pointer.session_id for pointer in pointers) == names
    assert {pointer.transitions for pointer in pointers} == {18}
    assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock"]


def _remember_until_killed(path, began):
    agent = HermesAgentFSM("s1")
    began.set()
    while True:
        agent.try_fire("receive_task", task="x" * 50)
        agent.try_fire("planning_failed")
        agent.try_fire("abort")
        remember(agent, path)


def test_a_process_that_is_killed_leaves_a_whole_file_and_no_lock(memory):
    spawn = multiprocessing.get_context("spawn")
    for number in range(5):
        began = spawn.Event()
        worker = spawn.Process(target=_remember_until_killed, args=(memory, began))
        worker.start()
        assert began.wait(30)
        time.sleep(0.003 * number)
        worker.kill()
        worker.join(30)
        others, *sessions = memory.read_text().split("\n§\norkeon-session ")
        assert others == OTHERS
        assert all(pointer.state is not None for pointer in recall_all(memory))
        assert len(sessions) in (number, number + 1)  # the killed one may have been too early
        remember(HermesAgentFSM(f"after-{number}"), memory, lock_timeout=1)
        assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock"]


def test_a_draft_that_a_dead_process_has_left_goes(memory, agent):
    (memory.parent / "elsewhere").write_text("theirs")
    (memory.parent / ".MEMORY.md.draft").symlink_to("elsewhere")
    remember(agent, memory)
    assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock", "elsewhere"]
    assert (memory.parent / "elsewhere").read_text() == "theirs"
