"""Makes what is needed for each piece of work of a run: a machine of its own, a context, a record.

A piece of work is a task, or something that a process wants besides: an agent's answer to a question, the
answer of one agent among several. In a run that goes on, each piece comes back as it was written down.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from orkeon_transitions.crew.acceptance import Acceptance, is_planned, is_shown, rules_of
from orkeon_transitions.crew.config import AgentConfig, CrewConfig, TaskConfig
from orkeon_transitions.crew.decisions import Review
from orkeon_transitions.crew.deliverables import Deliverable
from orkeon_transitions.crew.executors import JudgingExecutor, TaskContext
from orkeon_transitions.crew.observing import CrewObserver, TaskWaits, tell
from orkeon_transitions.crew.processes.run_options import RunOptions
from orkeon_transitions.crew.resolution import TaskLimits, running_limits
from orkeon_transitions.crew.results import TaskResult
from orkeon_transitions.crew.resuming import RecordedMachines
from orkeon_transitions.crew.run_log import RecordedMachine
from orkeon_transitions.crew.task_run import TaskRun
from orkeon_transitions.machines import AsyncTaskExecution


@dataclass(frozen=True, slots=True)
class Job:
    """A task that may begin.

    Attributes:
        task: The task.
        agent: Who will work.
        earlier: What the tasks before it gave.
        review: Judges each output, or None: nobody does.
    """

    task: TaskConfig
    agent: AgentConfig
    earlier: Mapping[str, TaskResult]
    review: Review | None = None


Equip = Callable[[TaskContext], None]


@dataclass(frozen=True, slots=True)
class Assistance:
    """What a helper has done.

    Attributes:
        result: How it went.
        about: What it was for, in short.
    """

    result: TaskResult
    about: str


class Workshop:
    """Where the pieces of work of one run are made ready.

    Args:
        config: The crew.
        options: What the program gave.
        recorded: What another process has written down of the run.
    """

    def __init__(self, config: CrewConfig, options: RunOptions, recorded: RecordedMachines) -> None:
        self._config = config
        self._options = options
        self._recorded = recorded
        self._machine_ids: set[str] = set()
        self._judge = options.executor if isinstance(options.executor, JudgingExecutor) else None
        # By the identity of the task's block, which is kept, so that no other block can have it.
        self._limits: dict[int, tuple[object, TaskLimits]] = {}
        self._heard: dict[str, list[tuple[str, str]]] = {}

    def task(self, job: Job, before: TaskResult | None) -> TaskRun:
        """The work on a task: from its beginning, or from where another process has left it.

        Args:
            job: The task.
            before: What earlier machines made of it, or None.
        """
        machine_id, found = self._new_machine_id(job.task.id), self._recorded.take(job.task.id)
        context = self._context(job, machine_id, found, self._limits_of(job.task))
        context.idempotency_key = f"{self._options.run_id}/{job.task.id}"
        context.heard = list(self._heard.get(job.task.id, ()))
        if before is not None:
            context.attempt, context.usage = before.attempts, before.usage
        run = self._run(job, context)
        run.observer, run.before = self._options.observer, before
        self._written_down(run, found)
        # The same list: a person who has answered on this machine is not asked again on the next one.
        self._heard[job.task.id] = context.heard
        return run

    def piece(self, job: Job, name: str, limits: TaskLimits | None = None) -> TaskRun:
        """A piece of work that is none of the crew's tasks by itself; nobody watches it.

        Args:
            job: What is to be done.
            name: What it is called; a second one of that name is `<name>#2`.
            limits: What its machine is allowed; what the task is if left out.
        """
        machine_id = self._new_machine_id(name)
        found = self._recorded.piece(machine_id)
        context = self._context(job, machine_id, found, limits or self._limits_of(job.task))
        context.idempotency_key = machine_id
        run = self._run(job, context)
        run.is_piece = True
        return self._written_down(run, found)

    def _context(
        self, job: Job, machine_id: str, found: RecordedMachine | None, limits: TaskLimits
    ) -> TaskContext:
        clock = self._options.clock
        if found is not None:
            machine = AsyncTaskExecution.restore(found.snapshot, clock=clock)
        else:
            machine = AsyncTaskExecution(
                policy=limits.policy, machine_id=machine_id, clock=clock, **limits.guards
            )
        if self._options.journal is not None:
            self._options.journal.record(machine)
        return TaskContext(machine, self._options.inputs, job.earlier, secrets=self._options.secrets)

    def _run(self, job: Job, context: TaskContext) -> TaskRun:
        file = job.task.deliverable
        is_task = job.task.id in self._config.tasks
        context.human, context.turn = self._options.human, self._turn(job)
        return TaskRun(
            task=job.task,
            agent=job.agent,
            executor=self._options.executor,
            context=context,
            observer=CrewObserver(),
            deliverable=Deliverable.of(self._options.mounts, file) if file else None,
            review=job.review,
            is_planned=is_task and is_planned(self._config, job.agent, job.task),
            acceptance=self._acceptance(job, context) if is_task else Acceptance(),
        )

    def _limits_of(self, task: TaskConfig) -> TaskLimits:
        """What a task is allowed: the same for all tasks with the same block."""
        block = task.circuit_breaker
        if id(block) not in self._limits:
            self._limits[id(block)] = block, running_limits(self._config, task)
        return self._limits[id(block)][1]

    def _acceptance(self, job: Job, context: TaskContext) -> Acceptance:
        """What is asked of the outputs of a task of the crew, whichever piece of work gives them."""
        judge = None
        if self._judge is not None:
            judge = partial(self._judge.judge_output, job.agent, job.task, context)
        return Acceptance(
            rules_of(self._config, job.agent, job.task),
            self._options.checker,
            judge,
            by_person=is_shown(self._config, job.task),
        )

    def _turn(self, job: Job) -> Callable[[], Awaitable[None]] | None:
        """Waits until an agent may ask its model."""
        paces, observer = self._options.paces, self._options.observer
        if paces is None:
            return None

        def waits(seconds: float) -> None:
            tell(observer.task_waits, TaskWaits(job.task.id, job.agent.id, seconds))

        return partial(paces.turn, job.agent.id, waits)

    def _written_down(self, run: TaskRun, found: RecordedMachine | None) -> TaskRun:
        """Goes on where another process was, and writes down what comes next."""
        if found is not None:
            run.put_back(found.note, found.history)
        if self._options.recorder is not None:
            run.record_in(self._options.recorder)
        return run

    def _new_machine_id(self, name: str) -> str:
        first = f"{self._options.run_id}/{name}"
        names = itertools.chain([first], (f"{first}#{number}" for number in itertools.count(2)))
        chosen = next(name for name in names if name not in self._machine_ids)
        self._machine_ids.add(chosen)
        return chosen
