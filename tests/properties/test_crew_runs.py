"""Crews of any shape under each process, against a model of what must become of each task."""

import json
from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import CrewObserver, TaskOutcome, load_crew

FOREVER = 1000


@dataclass
class Plan:
    """A crew, and how often each of its tasks fails before it succeeds."""

    process: str
    agents: list[str]
    unavailable: list[str]
    dependencies: dict[str, list[str]]
    agent_of: dict[str, str | None]
    failures: dict[str, int]
    max_retries: int | None
    cycles: int | None
    concurrency: int

    @property
    def crew(self):
        tasks = {
            task: {"description": "d", "agent": self.agent_of[task], "dependencies": needed}
            for task, needed in self.dependencies.items()
        }
        limits = {} if self.max_retries is None else {"maxRetries": self.max_retries}
        crew = {
            "process": self.process,
            "agents": {agent: {} for agent in self.agents},
            "tasks": tasks,
            "circuitBreaker": limits,
        }
        if self.process == "graph" and self.cycles is not None:
            crew["graphConfig"] = {"maxRetryCycles": self.cycles}
        return crew

    @property
    def attempts_per_machine(self):
        default = 0 if self.process == "graph" else 3
        return 1 + (default if self.max_retries is None else self.max_retries)

    @property
    def machines(self):
        return (3 if self.cycles is None else 1 + self.cycles) if self.process == "graph" else 1


@st.composite
def plans(draw):
    size = draw(st.integers(1, 30))
    names = draw(st.permutations([f"t{n}" for n in range(size)]))
    agents = [f"a{n}" for n in range(draw(st.integers(1, 8)))]
    # A task needs tasks of lower numbers; in the file it may stand before them.
    dependencies = {
        name: draw(st.lists(st.integers(0, int(name[1:]) - 1).map("t{}".format), max_size=3, unique=True))
        if name != "t0"
        else []
        for name in names
    }
    some = st.sampled_from
    return Plan(
        process=draw(some(["sequential", "parallel", "graph"])),
        agents=agents,
        unavailable=draw(st.just([]) | st.lists(some(agents), unique=True)),
        dependencies=dependencies,
        agent_of={name: draw(st.none() | some(agents)) for name in names},
        failures={name: draw(some([0, 0, 0, 1, 2, 5, FOREVER])) for name in names},
        max_retries=draw(st.none() | st.integers(0, 2)),
        cycles=draw(st.none() | st.integers(0, 3)),
        concurrency=draw(st.integers(1, 8)),
    )


def expected(plan):
    """Each task's status and attempts, worked out from its dependencies and failures."""
    model = {}
    for number in range(len(plan.dependencies)):
        name = f"t{number}"
        agent = plan.agent_of[name]
        served = agent not in plan.unavailable if agent else len(plan.unavailable) < len(plan.agents)
        budget = plan.attempts_per_machine * plan.machines
        if any(model[needed][0] != "completed" for needed in plan.dependencies[name]):
            model[name] = ("skipped", 0)
        elif not served:
            model[name] = ("failed", 0)
        elif plan.failures[name] < budget:
            model[name] = ("completed", plan.failures[name] + 1)
        else:
            model[name] = ("failed", budget)
    return model


class Watcher:
    """Folds the facts of the life cycles, and holds that each begins where the one before it ended."""

    def __init__(self):
        self.states = {}
        self.started = Counter()
        self.retried = Counter()
        self.finished = Counter()
        self.observer = CrewObserver(
            status_moved=self.moved,
            task_started=lambda fact: self.started.update([fact.task]),
            task_retried=lambda fact: self.retried.update([fact.task]),
            task_finished=lambda result: self.finished.update([result.id]),
        )

    def moved(self, fact):
        key = (fact.kind, fact.name)
        before = self.states.get(key)
        assert before in (None, fact.transition.from_state)
        self.states[key] = fact.transition.to_state


def run(plan):
    executions, running = Counter(), Counter()
    watcher = Watcher()

    async def work(agent, task, context):
        executions[task.id] += 1
        assert context.attempt == executions[task.id], "attempts are counted across machines"
        assert set(plan.dependencies[task.id]) <= set(context.earlier)
        assert agent.id not in plan.unavailable
        running[task.id] += 1
        assert running[task.id] == 1
        assert sum(running.values()) <= (plan.concurrency if plan.process == "parallel" else 1)
        running[task.id] -= 1
        if executions[task.id] <= plan.failures[task.id]:
            output = f"part {executions[task.id]}" if executions[task.id] % 2 else ""
            return TaskOutcome(False, output, "no luck")
        return f"{task.id} done"

    result = load_crew_of(plan).run_sync(
        executor=work,
        observer=watcher.observer,
        concurrency=plan.concurrency,
        unavailable=plan.unavailable,
        run_id="r",
    )
    return result, executions, watcher


def load_crew_of(plan):
    return load_crew(json.dumps(plan.crew))


@settings(deadline=None, max_examples=60)
@given(plans())
def test_each_task_ends_as_its_dependencies_and_failures_say(plan):
    result, executions, watcher = run(plan)
    model = expected(plan)
    assert {task.id: (str(task.status), task.attempts) for task in result.tasks.values()} == model
    assert list(result.tasks) == list(plan.dependencies)
    assert {name: executions[name] for name in model} == {name: count for name, (_, count) in model.items()}
    all_well = {status for status, _ in model.values()} == {"completed"}
    assert str(result.status) == ("completed" if all_well else "failed")
    assert watcher.finished == Counter(list(model))

    for task in result.tasks.values():
        machines = -(-task.attempts // plan.attempts_per_machine)
        assert len(task.machines) == machines == watcher.started[task.id] <= plan.machines
        assert watcher.retried[task.id] == max(0, machines - 1)
        assert len({machine.machine_id for machine in task.machines}) == machines
        assert tuple(step for machine in task.machines for step in machine.history) == task.history
        for number, machine in enumerate(task.machines, start=1):
            last = number == machines and task.success
            assert machine.state == ("completed" if last else "failed")
            assert machine.history[-1].to_state == machine.state
        gave = "done" if task.success else "part" if task.attempts else ""
        assert gave in task.output
        assert bool(task.output) == bool(gave), "no output is lost"

    ended = {"completed": "completed", "failed": "failed", "skipped": "cancelled"}
    assert result.states["tasks"] == {
        name: ended[status] if count or status != "failed" else "cancelled"
        for name, (status, count) in model.items()
    }
    assert result.states["crew"] == ("completed" if all_well else "failed")
    for agent, state in result.states["agents"].items():
        assert state in ({"unavailable"} if agent in plan.unavailable else {"idle", "error"})
    folded = {("crew", "crew"): result.states["crew"]}
    for kind in ("agent", "task"):
        folded |= {(kind, name): state for name, state in result.states[f"{kind}s"].items()}
    assert folded | watcher.states == folded
