"""Taking a run up: who may, and with which crew and inputs."""

import asyncio
import copy

import pytest

from orkeon_transitions.crew import MemoryRunLog, load_crew
from orkeon_transitions.crew.run_log import RunLog
from orkeon_transitions.errors import CrewDefinitionError, DefinitionError, OrkeonError, StaleMachineError
from tests.crew.dying import INPUTS, THREE, died, interrupted, only, resumed, three
from tests.crew.scripted import crew_of_one, hang


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [("x", "completed", "nothing is left"), (None, "failed", "begin a new run")],
)
def test_a_run_that_has_ended_says_so(answer, status, words):
    crew, log = crew_of_one(breaker="maxRetries: 0"), MemoryRunLog()

    def work(agent, task, context):
        if answer is None:
            raise RuntimeError("no")
        return answer

    assert crew.run_sync(run_log=log, run_id="r", executor=work).status == status
    with pytest.raises(OrkeonError, match=f"'r' has ended .{status}.: .*{words}"):
        crew.resume_sync("r", run_log=log, executor=work)


def test_a_degraded_run_says_so():
    crew, log = crew_of_one(breaker="maxTransitions: 1, useDegradedMode: true"), MemoryRunLog()
    assert crew.run_sync(run_log=log, run_id="r", executor=only()).status == "degraded"
    with pytest.raises(OrkeonError, match="degraded"):
        crew.resume_sync("r", run_log=log)


def test_there_is_no_such_run():
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, "night", one=hang)
    with pytest.raises(OrkeonError, match="did you mean 'night'"):
        crew.resume_sync("nigth", run_log=log)
    with pytest.raises(OrkeonError, match="already"):
        crew.run_sync(INPUTS, run_log=log, run_id="night")


def test_one_goes_on_and_the_other_is_told():
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, one=hang)

    async def main():
        resumes = [crew.resume("r", run_log=log, executor=only()) for _ in range(4)]
        return await asyncio.gather(*resumes, return_exceptions=True)

    ends = asyncio.run(main())
    won = [end for end in ends if not isinstance(end, Exception)]
    assert len(won) == 1
    assert won[0].success
    assert all(isinstance(end, StaleMachineError) for end in ends if end is not won[0])


def test_who_is_taken_over_stops():
    log, crew = MemoryRunLog(), three()

    async def main():
        go_on = asyncio.Event()
        first = asyncio.create_task(
            crew.run(INPUTS, run_log=log, run_id="r", executor=only(one=lambda: _after(go_on)))
        )
        await asyncio.sleep(0.05)
        with pytest.raises(StaleMachineError, match="worked on"):
            await crew.resume("r", run_log=log)
        second = await crew.resume("r", run_log=log, executor=only(), take_over=True)
        go_on.set()
        with pytest.raises(StaleMachineError, match="this one stops"):
            await first
        return second

    assert asyncio.run(main()).success
    assert log.read("r").status == "completed"


async def _after(event):
    await event.wait()
    return "late"


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"role: R": "role: S"}, "agents.a.role", "has changed"),
        ({"a: {role: R}": "a: {role: R}, b: {}"}, "agents.b", "is new"),
        ({"  three: {description: d, agent: a}\n": ""}, "tasks.three", "is gone"),
        ({"three: {description: d,": "three: {description: e,"}, "tasks.three.description", "has changed"),
        ({"dependencies: [one]": "dependencies: []"}, "tasks.two.dependencies", "has changed"),
        ({"goal: About": "goal: Of"}, "goal", "has changed"),
        ({"process: sequential": "process: parallel"}, "process", "has changed"),
        ({"goal:": "circuitBreaker: {maxRetries: 1}\ngoal:"}, "circuit_breaker", "has changed"),
        ({"goal:": "mounts: ['.:/m']\ngoal:"}, "mounts./m", "is new"),
    ],
)
def test_a_crew_that_has_changed_is_named_and_refused(changes, path, words):
    log = MemoryRunLog()
    interrupted(three(), log, two=hang)
    changed = three(**changes)
    with pytest.raises(CrewDefinitionError) as raised:
        changed.resume_sync("r", run_log=log, executor=only())
    *named, last = raised.value.problems
    assert [(one.path, words in one.message) for one in named] == [(path, True)]
    assert named[0].file == "<text>"
    assert "allow_changes" in last.message
    assert log.read("r").status == "interrupted"
    result = changed.resume_sync("r", run_log=log, executor=only(), allow_changes=True)
    assert result.success
    assert list(result.tasks) == list(changed.tasks)


def test_the_order_of_tasks_is_named():
    log = MemoryRunLog()
    interrupted(three(), log, one=hang)
    lines = THREE.format(process="sequential").splitlines()
    lines[-3:] = [lines[-1], *lines[-3:-1]]
    with pytest.raises(CrewDefinitionError, match="tasks: come in another order"):
        load_crew("\n".join(lines)).resume_sync("r", run_log=log)


def test_what_has_no_effect_is_no_change():
    log = MemoryRunLog()
    interrupted(three(), log, one=hang)
    crew = three(**{"role: R": "role: R, verbose: true", "goal:": "# a remark\ngoal:"})
    assert crew.resume_sync("r", run_log=log, executor=only()).success


def test_a_place_that_has_moved_is_named(tmp_path):
    log = MemoryRunLog()
    text = "name: m\nmounts: ['./x:/x']\nagents: {a: {}}\ntasks: {t: {description: d}}\n"
    crews = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "crew.yaml").write_text(text)
        crews.append(load_crew(tmp_path / name / "crew.yaml"))
    died(crews[0], log, 1, executor=only())
    with pytest.raises(CrewDefinitionError, match=r"mounts\./x: is .*there.*, and was .*here"):
        resumed(crews[1], log)


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        ({"topic": "y"}, "inputs.topic", "another value"),
        ({"topic": "x", "more": 1}, "inputs.more", "is new"),
    ],
)
def test_inputs_that_have_changed_are_named_and_refused(inputs, path, words):
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, two=hang)
    with pytest.raises(CrewDefinitionError) as raised:
        crew.resume_sync("r", run_log=log, inputs=inputs)
    problem = raised.value.problems[0]
    assert (problem.path, words in problem.message) == (path, True)
    assert crew.resume_sync("r", run_log=log, inputs=inputs, executor=only(), allow_changes=True).success
    assert log.read("r").note["inputs"] == inputs


def test_inputs_that_are_missing():
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, two=hang)
    with pytest.raises(CrewDefinitionError, match=r"inputs\.topic: is missing"):
        crew.resume_sync("r", run_log=log, inputs={})


@pytest.mark.parametrize("value", [object(), (1, 2), {1: 2}, float("nan"), b"x", {"x"}])
def test_an_input_that_cannot_be_kept_is_refused_without_being_shown(value):
    with pytest.raises(TypeError, match="input 'topic' is of type") as raised:
        three().run_sync({"topic": value}, run_log=MemoryRunLog())
    assert repr(value) not in str(raised.value)


def test_what_is_no_log_is_refused():
    with pytest.raises(TypeError, match=r"store\.runs"):
        three().run_sync(INPUTS, run_log=object())
    with pytest.raises(TypeError, match=r"store\.runs"):
        three().resume_sync("r", run_log=object())
    with pytest.raises(ValueError, match="written down once"):
        three().run_sync(INPUTS, run_log=MemoryRunLog(), journal=type("J", (), {"record": print})())
    assert isinstance(MemoryRunLog(), RunLog)


def test_it_is_awaited_inside_of_a_loop():
    async def main():
        with pytest.raises(OrkeonError, match=r"await crew\.resume"):
            three().resume_sync("r", run_log=MemoryRunLog())

    asyncio.run(main())


class Altered:
    """A log that tells of its runs otherwise than they were written."""

    def __init__(self, log, alter):
        self._log = log
        self._alter = alter

    def begin(self, *given):
        return self._log.begin(*given)

    def take_up(self, *given, **options):
        return self._log.take_up(*given, **options)

    def read(self, run_id):
        run = copy.deepcopy(self._log.read(run_id))
        self._alter(run)
        return run


def test_a_machine_of_another_release_is_named():
    log, crew = MemoryRunLog(), three("graph")
    interrupted(crew, log, one=hang)

    def alter(run):
        run.note["fingerprint"]["machines"]["graph_router"] = "older"

    with pytest.raises(CrewDefinitionError, match=r"machines\.graph_router: has another definition"):
        crew.resume_sync("r", run_log=Altered(log, alter))


@pytest.mark.parametrize("name", ["r:crew", "r:task/one", "r/one"])
def test_a_run_that_cannot_be_restored_is_left_as_it_was(name):
    log, crew = MemoryRunLog(), three()
    interrupted(crew, log, one=hang)

    def alter(run):
        machine = run.by_id[name]
        machine.snapshot = machine.snapshot.model_copy(update={"state": "dreaming"})

    with pytest.raises(DefinitionError, match="no state 'dreaming'"):
        crew.resume_sync("r", run_log=Altered(log, alter))
    assert log.read("r").status == "interrupted"
    assert crew.resume_sync("r", run_log=log, executor=only()).success
