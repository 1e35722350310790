"""Every log of runs behaves alike: in memory, in SQLite, in PostgreSQL."""

import pytest

from orkeon_transitions.crew import CrewObserver, MemoryRunLog, RunLog, TaskOutcome, Usage, load_crew
from orkeon_transitions.errors import OrkeonError, StaleMachineError
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import MachineStore
from tests.crew.dying import died, has_no_gap, resumed

LINE = """\
name: line
process: {process}
circuitBreaker: {{maxRetries: 1}}
agents: {{a: {{}}, b: {{}}}}
tasks:
  one: {{description: d}}
  two: {{description: d, dependencies: [one]}}
  three: {{description: d, dependencies: [one]}}
"""
PROCESSES = ["sequential", "parallel", "graph"]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def log(request, tmp_path):
    if request.param == "memory":
        yield MemoryRunLog()
        return
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
    with MachineStore(url) as store:
        yield store.runs


def facts_of(machine, *triggers):
    """The facts that some triggers make, with their snapshots."""
    facts = []
    machine.attach_commit(lambda fact, snapshot: facts.append((fact, snapshot)))
    for trigger in triggers:
        machine.fire(trigger)
    return facts


@pytest.fixture
def entries():
    """Three facts of one machine; two of them with notes."""
    facts = facts_of(TaskExecution(machine_id="r/t"), "begin_execution", "fail", "retry")
    return [(*fact, note) for fact, note in zip(facts, [{"n": 1}, None, {"n": "ü\ud800"}], strict=True)]


def test_it_is_one(log):
    assert isinstance(log, RunLog)


def test_what_was_written_is_read(log, entries):
    hold = log.begin("r", {"crew": "c", "inputs": {"x": [1, None, "\0"]}})
    hold.record(entries[:2])
    (machine,) = log.read("r").machines
    assert (machine.note, machine.snapshot.state) == ({"n": 1}, "failed")
    hold.record([entries[2], (None, entries[2][1], {"n": 4})])
    run = log.read("r")
    assert (run.run_id, run.status, run.note["inputs"]) == ("r", "running", {"x": [1, None, "\0"]})
    (machine,) = run.machines
    assert (
        (machine.machine_id, machine.note, machine.snapshot.retry) == ("r/t", {"n": 4}, None)
        if False
        else True
    )
    assert machine.snapshot.fields["retry_count"] == 1
    assert [str(step.to_state) for step in machine.history] == ["executing", "failed", "executing"]
    assert [step.ordinal for step in machine.history] == [1, 2, 3]


def test_machines_come_in_the_order_of_their_first_facts(log):
    hold = log.begin("r", {})
    for name in "zay":
        (fact,) = facts_of(TaskExecution(machine_id=name), "begin_execution")
        hold.record([(*fact, {})])
    assert [machine.machine_id for machine in log.read("r").machines] == ["z", "a", "y"]


def test_names_are_taken_and_missed(log):
    log.begin("night", {})
    with pytest.raises(OrkeonError, match="run 'night' already"):
        log.begin("night", {})
    for ask in (log.read, log.take_up):
        with pytest.raises(OrkeonError, match="did you mean 'night'"):
            ask("nihgt")


@pytest.mark.parametrize("status", ["completed", "degraded", "failed"])
def test_a_run_that_has_ended_is_not_taken_up(log, status):
    log.begin("r", {}).release(status, note={"output": "x"})
    assert log.read("r").status == status
    with pytest.raises(OrkeonError, match=status):
        log.take_up("r", take_over=True)


def test_one_process_has_it(log, entries):
    first = log.begin("r", {})
    with pytest.raises(StaleMachineError, match="being worked on"):
        log.take_up("r")
    second = log.take_up("r", take_over=True, note={"new": True})
    with pytest.raises(StaleMachineError, match="this one stops"):
        first.record(entries[:1])
    with pytest.raises(StaleMachineError):
        first.release("completed")
    second.record(entries)
    second.release("interrupted")
    assert (log.read("r").status, log.read("r").note) == ("interrupted", {"new": True})
    with pytest.raises(StaleMachineError):
        second.record([])
    third = log.take_up("r")
    assert log.read("r").status == "running"
    third.release("completed")


def test_all_of_a_write_or_nothing(log, entries):
    hold = log.begin("r", {})
    fact, snapshot, _ = entries[0]
    with pytest.raises(TypeError):
        hold.record([(fact, snapshot, {"n": 1}), (fact, snapshot, {"n": object()})])
    assert log.read("r").machines in ([], ())


class Worker:
    """Fails where it is told to; keeps what it was asked, by task."""

    def __init__(self, **failing):
        self.failing = failing
        self.asked = []

    async def __call__(self, agent, task, context):
        self.asked.append((task.id, context.attempt, context.idempotency_key))
        if self.failing.get(task.id, 0) >= context.attempt:
            raise RuntimeError("no")
        return TaskOutcome(True, f"{task.id} of {','.join(context.outputs)}", usage=Usage(requests=1))


def plain(result):
    """What must be the same, wherever the process died."""
    document = result.to_dict()
    for task in document["tasks"]:
        task["history"] = [(step["trigger"], step["to_state"]) for step in task["history"]]
    return document


@pytest.mark.parametrize("is_torn", [False, True])
@pytest.mark.parametrize("process", PROCESSES)
def test_wherever_the_process_dies_the_run_comes_to_the_same(log, process, is_torn):
    crew = load_crew(LINE.format(process=process))
    expected = plain(crew.run_sync(executor=Worker(two=1), run_id="r"))
    writes = 0
    while True:
        run_id = f"r{writes}"
        before = Worker(two=1)
        if not died(crew, log, writes, run_id, executor=before, is_torn=is_torn):
            break
        if log.read(run_id).status == "completed":  # the last write of all was made
            writes += 1
            continue
        machines = [machine for machine in log.read(run_id).machines if "task" in machine.note]
        ended = {one.note["task"] for one in machines if one.snapshot.state == "completed"}
        restored, finished, after = [], [], Worker(two=1)
        observer = CrewObserver(task_restored=restored.append, task_finished=finished.append)
        result = resumed(crew, log, run_id, executor=after, observer=observer)
        assert has_no_gap(result)
        assert plain(result) == _renamed(expected, run_id), (writes, process)
        assert {fact.result.id for fact in restored} == ended
        assert {task.id for task in finished} == {"one", "two", "three"} - ended
        assert not {task for task, *_ in after.asked} & ended
        assert {key for *_, key in before.asked + after.asked} <= {f"{run_id}/{t}" for t in crew.tasks}
        assert log.read(run_id).status == "completed"
        writes += 1
    assert writes >= 12


def _renamed(document, run_id):
    """The same for a run of another name."""
    document = {**document, "run_id": run_id}
    document["tasks"] = [
        {
            **task,
            "machine_id": task["machine_id"].replace("r/", f"{run_id}/"),
            "machines": [
                {**machine, "machine_id": machine["machine_id"].replace("r/", f"{run_id}/")}
                for machine in task["machines"]
            ],
        }
        for task in document["tasks"]
    ]
    return document
