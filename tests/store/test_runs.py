"""Runs in a store: whose they are, how they are listed, how they are deleted."""

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import MachineStore
from orkeon_transitions.store.database import runs as rows
from orkeon_transitions.store.owners import Owner


@pytest.fixture
def store(tmp_path):
    with MachineStore(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        yield store


def entries(machine_id, *triggers):
    facts = []
    machine = TaskExecution(machine_id=machine_id)
    machine.attach_commit(lambda fact, snapshot: facts.append((fact, snapshot, {"task": "t"})))
    for trigger in triggers:
        machine.fire(trigger)
    return facts


def owned_by(store, owner, run_id="r"):
    """A run that another process has begun."""
    rows.add(store._database, run_id, note="{}", owner=str(owner), status="running")


def ended_process():
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    owner = Owner(Owner.this().host, child.pid, "")
    child.wait()
    return owner


def test_this_process_lives():
    this = Owner.this()
    assert not this.has_ended
    assert Owner.read(str(this)) == this
    assert this.words == f"process {os.getpid()} on {this.host}"


def test_the_name_of_a_computer_may_be_anything():
    owner = Owner("a/b", 7, "")
    assert Owner.read(str(owner)) == owner


def test_a_process_of_another_computer_may_live():
    assert not Owner("elsewhere", 1, "").has_ended


def test_a_process_that_has_ended_is_noticed():
    assert ended_process().has_ended


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell starts apart")
def test_another_process_of_the_same_number_is_noticed():
    this = Owner.this()
    assert this.started
    assert this._replace(started="another").has_ended


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_one_that_nobody_has_waited_for_is_noticed():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = Owner.of(child.pid)
        assert not owner.has_ended
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner.has_ended


def test_a_run_whose_process_has_ended_is_interrupted(store):
    owned_by(store, ended_process())
    (run,) = store.runs.listed()
    assert (run.status, run.owner) == ("interrupted", None)
    store.runs.take_up("r")
    assert store.runs.read("r").status == "running"


def test_a_run_of_another_computer_is_told_with_the_way_out(store):
    owned_by(store, Owner("elsewhere", 12, ""))
    assert store.runs.read("r").owner == "process 12 on elsewhere"
    with pytest.raises(StaleMachineError, match=r"process 12 on elsewhere, which wrote 0 s ago.*take_over"):
        store.runs.take_up("r")
    store.runs.take_up("r", take_over=True)


def test_of_many_that_take_it_up_at_once_one_has_it(tmp_path):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with MachineStore(url) as store:
        store.runs.begin("r", {}).release("interrupted")
    start, ends = threading.Barrier(6), []

    def take():
        with MachineStore(url) as own:
            start.wait()
            try:
                own.runs.take_up("r")
            except StaleMachineError as error:
                ends.append(str(error))
            else:
                ends.append("won")

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends.count("won") == 1
    assert all("worked on" in end or "was quicker" in end for end in ends if end != "won")


def test_runs_are_listed_the_last_written_first(store):
    before = datetime.now(UTC)
    holds = {name: store.runs.begin(name, {"crew": name}) for name in ("a", "b", "c")}
    holds["a"].record(entries("a/t", "begin_execution", "fail"))
    holds["b"].release("completed", note={"output": "x"})
    listed = store.runs.listed()
    assert [run.run_id for run in listed] == ["b", "a", "c"]
    assert [run.status for run in listed] == ["completed", "running", "running"]
    assert (listed[0].ending, listed[1].states) == ({"output": "x"}, {"a/t": "failed"})
    assert all(before <= run.began_at <= run.updated_at for run in listed)
    assert [run.run_id for run in store.runs.listed(limit=1)] == ["b"]


def test_machines_of_a_run_are_machines_of_the_store(store):
    hold = store.runs.begin("r", {})
    hold.record(entries("r/t", "begin_execution", "submit_for_validation"))
    fsm = store.load(TaskExecution, "r/t")
    assert (fsm.state, fsm.transition_count) == ("validating", 2)
    assert [record.trigger for record in store.journal("r/t")] == ["begin_execution", "submit_for_validation"]
    fsm.validation_passed()
    with pytest.raises(StaleMachineError, match="another writer"):
        hold.record([(*entries("r/t", "begin_execution")[0][:2], {})])


def test_a_machine_that_is_none_of_the_run(store):
    store.create(TaskExecution, machine_id="r/t")
    hold = store.runs.begin("r", {})
    with pytest.raises(StaleMachineError, match="not one of run 'r'"):
        hold.record(entries("r/t", "begin_execution"))
    assert store.runs.read("r").machines == ()


def test_a_run_is_deleted_with_its_machines(store):
    store.create(TaskExecution, machine_id="other")
    for name in ("r", "s"):
        store.runs.begin(name, {}).record(entries(f"{name}/t", "begin_execution"))
    store.runs.delete("r")
    assert [run.run_id for run in store.runs.listed()] == ["s"]
    with pytest.raises(OrkeonError, match="no run 'r'"):
        store.runs.read("r")
    with pytest.raises(OrkeonError, match="no run 'r'"):
        store.runs.delete("r")
    with pytest.raises(JournalError, match="no machine 'r/t'"):
        store.journal("r/t")
    assert store.load(TaskExecution, "other").state == "assigned"
    assert len(store.journal("s/t")) == 1


def test_runs_are_pruned_and_their_machines_with_them_only(store):
    for name, status in (("done", "completed"), ("left", "interrupted")):
        hold = store.runs.begin(name, {})
        hold.record(entries(f"{name}/t", "begin_execution", "cancel"))
        hold.release(status)
    store.runs.begin("now", {}).record(entries("now/t", "begin_execution", "cancel"))
    store.create(TaskExecution, machine_id="alone").cancel()
    assert store.prune(idle_for=0) == 1
    assert store.load(TaskExecution, "left/t").state == "cancelled"
    assert store.runs.prune(idle_for=timedelta(days=1)) == 0
    assert store.runs.prune(idle_for=0) == 1
    assert [run.run_id for run in store.runs.listed()] == ["now", "left"]
    assert store.runs.prune(idle_for=0, ended_only=False) == 1
    assert [run.run_id for run in store.runs.listed()] == ["now"]
    assert [machine.machine_id for machine in store.machines()] == ["now/t"]


def test_a_closed_store_keeps_nothing_more(tmp_path):
    store = MachineStore(f"sqlite:///{tmp_path / 'runs.db'}")
    hold = store.runs.begin("r", {})
    store.close()
    with pytest.raises(JournalError, match="closed"):
        hold.record(entries("r/t", "begin_execution"))
    with pytest.raises(JournalError, match="closed"):
        store.runs.listed()


def test_a_run_whose_store_is_closed_can_be_taken_up_at_once(tmp_path):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    store = MachineStore(url)
    hold = store.runs.begin("r", {})
    hold.record(entries("r/t", "begin_execution"))
    done = store.runs.begin("done", {})
    done.release("completed")
    store.close()
    with MachineStore(url) as again:
        assert {run.run_id: run.status for run in again.runs.listed()} == {
            "r": "interrupted",
            "done": "completed",
        }
        assert again.runs.take_up("r")


def test_a_store_that_closes_leaves_alone_what_another_has_taken_over(tmp_path):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    store = MachineStore(url)
    hold = store.runs.begin("r", {})
    with MachineStore(url) as other:
        taken = other.runs.take_up("r", take_over=True)
        store.close()
        assert other.runs.read("r").status == "running"
        taken.record(entries("r/t", "begin_execution"))
    del hold


# ------------------------------------------------------------------------------- what a run cannot do without
def test_a_machine_of_a_run_is_deleted_with_its_run_only(store):
    hold = store.runs.begin("r", {})
    hold.record(entries("t1", "begin_execution"))
    with pytest.raises(OrkeonError, match=r"'t1' belongs to run 'r'.*store\.runs\.delete\('r'\)"):
        store.delete("t1")
    assert [machine.machine_id for machine in store.runs.read("r").machines] == ["t1"]
    hold.record(entries("t2", "begin_execution"))
    hold.release("interrupted")
    store.runs.delete("r")
    assert store.machines() == []


@pytest.mark.parametrize("run_id", ["", "a\nb", "a\0b", "\ud800"])
def test_a_run_has_a_name_that_its_machines_may_have(store, run_id):
    with pytest.raises(OrkeonError, match="a text that can be printed"):
        store.runs.begin(run_id, {})
    assert rows.names(store._database) == []
