"""What all processes share: the run of a crew, its tasks in order, its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from orkeon_transitions.crew.config import CrewConfig, TaskConfig
from orkeon_transitions.crew.decisions import Decision, Verdict
from orkeon_transitions.crew.observing import TaskRestored, TaskRetried, tell
from orkeon_transitions.crew.ordering import in_order, in_waves
from orkeon_transitions.crew.processes.life_cycles import LifeCycleRecord, LifeCycles
from orkeon_transitions.crew.processes.outcome import (
    GAVE_SOMETHING,
    in_vain,
    last_output,
    run_status,
    what_went_wrong,
)
from orkeon_transitions.crew.processes.run_options import Journal, RunOptions
from orkeon_transitions.crew.processes.workshop import Assistance, Equip, Job, Workshop
from orkeon_transitions.crew.recording import MachineRecord
from orkeon_transitions.crew.resolution import TaskLimits, question_limits
from orkeon_transitions.crew.results import CrewResult, TaskResult, TaskRunStatus, Usage
from orkeon_transitions.crew.resuming import RecordedMachines, result_of
from orkeon_transitions.crew.task_run import TaskRun
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.machines import AsyncTaskExecution, TaskState

__all__ = ["GAVE_SOMETHING", "Assistance", "CrewRun", "Job", "Journal", "RunOptions"]


class CrewRun:
    """One run of a crew, whatever its process. A crew may have many at the same time.

    Attributes:
        config: The crew, inputs filled in.
        options: What the program gave.
        order: The tasks in the order of their dependencies, otherwise in file order.
        waves: The tasks in groups, each of which needs only tasks of earlier groups.
    """

    def __init__(self, config: CrewConfig, options: RunOptions) -> None:
        self.config = config
        self.options = options
        dependencies = {task.id: task.dependencies for task in config.tasks.values()}
        self.order: Sequence[str] = in_order(dependencies)
        self.waves: Sequence[Sequence[str]] = in_waves(dependencies)
        self._results: dict[str, TaskResult] = {}
        self._earlier: Mapping[str, TaskResult] = MappingProxyType({})
        self._earlier_of = 0
        self._begun: dict[str, None] = {}
        self._retried: dict[str, TaskResult] = {}
        self._stopped: str | None = None
        self._decisions: list[Decision] = []
        self._asked = Usage()
        self._attempts: dict[str, list[TaskResult]] = {}
        self._helpers: dict[str, TaskRun] = {}
        self._machines: dict[str, AsyncTaskExecution] = {}
        self._recorded = RecordedMachines(options.recorded)
        self._workshop = Workshop(config, options, self._recorded)
        self._life_cycles = LifeCycles(
            config,
            options.unavailable,
            publish=options.observer.status_moved and partial(tell, options.observer.status_moved),
            record=LifeCycleRecord(
                options.run_id, self._recorded, None if options.recorder is None else options.recorder.wait
            ),
        )

    def can_begin(self, task_id: str) -> bool:
        """Whether the tasks that a task needs have given something; else it has ended as skipped."""
        task = self.config.tasks[task_id]
        missing = [needed for needed in task.dependencies if not self._gave_something(needed)]
        if missing:
            self._never_begun(task, TaskRunStatus.SKIPPED, in_vain(missing))
        return not missing

    def prepare(self, task_id: str, agent: str | None = None) -> Job | None:
        """Gets a task ready: chooses the agent, gathers what the tasks before it gave.

        Args:
            task_id: The task.
            agent: Who is to work on it, in place of the agent that it names.

        Returns:
            None: the task has ended, since a task that it needs gave nothing or there is no agent for it.
        """
        if not self.can_begin(task_id):
            return None
        named = self.config.tasks[task_id].agent if agent is None else agent
        chosen = self._life_cycles.agents.choose(named, again=self._chosen_before(task_id))
        if chosen is None:
            self.refuse(task_id, f"agent '{named}' is unavailable" if named else "no agent is available")
            return None
        self._life_cycles.task_ready(task_id)
        self._begun[task_id] = None
        return Job(self.config.tasks[task_id], self.config.agents[chosen], self.earlier())

    def earlier(self) -> Mapping[str, TaskResult]:
        """The results so far that gave something, by task: for all tasks of a wave the same mapping."""
        if self._earlier_of != len(self._results):
            gave = {one: self._results[one] for one in self.order if self._gave_something(one)}
            self._earlier, self._earlier_of = MappingProxyType(gave), len(self._results)
        return self._earlier

    def refuse(self, task_id: str, why: str) -> None:
        """Ends a task that nobody will begin as failed."""
        self._never_begun(self.config.tasks[task_id], TaskRunStatus.FAILED, why)

    async def consult(
        self,
        agent_id: str,
        name: str,
        description: str,
        expected_output: str,
        *,
        kind: str = "question",
        check: Callable[[str], str | None] | None = None,
    ) -> TaskResult:
        """Asks an agent something on a machine of its own, `<run_id>/<name>`, without tools.

        The question is none of the result's tasks; what it spends counts. In a run that goes on, one that was
        answered is not asked again.

        Args:
            agent_id: Whom.
            name: What the question is called; a second one of that name is `<name>#2`.
            description: The question.
            expected_output: What the answer should look like.
            kind: What the executor is told of it, as `TaskContext.question`.
            check: Says what is wrong with an answer, which then is asked for again, within bounds.
        """
        if not self.is_available(agent_id):
            why = f"agent '{agent_id}' is unavailable"
            return TaskResult(name, TaskRunStatus.FAILED, error=why, agent=agent_id)
        task = TaskConfig(name, description, expected_output, tools=())
        review = None if check is None else partial(_checked, check)
        job = Job(task, self.config.agents[agent_id], {}, review)
        run = self._workshop.piece(job, name, question_limits(self.config))
        run.context.question = kind
        try:
            return await self._piece(run)
        finally:
            self._asked += run.context.usage

    async def attempt(
        self, job: Job, name: str, limits: TaskLimits | None = None, equip: Equip | None = None
    ) -> TaskResult:
        """Lets an agent do a task on a machine of its own, `<run_id>/<name>`; the task has not ended then.

        In a run that goes on, an attempt that had ended is not made again. What each has come to, also one
        that is broken off, is among the task's `attempts`.

        Args:
            job: The task, ready.
            name: What the attempt is called; a second one of that name is `<name>#2`.
            limits: What its machine is allowed, in place of what the task is.
            equip: Is given the context before the work begins.
        """
        run = self._workshop.piece(job, name, limits)
        if equip is not None:
            equip(run.context)
        run.observer = self.options.observer
        self._machines[job.task.id] = run.context.machine
        if not self._recorded.has_ended_piece(run.context.machine.machine_id):
            self._life_cycles.task_opened(job.task.id)
        try:
            return await self._piece(run)
        finally:
            self._attempts.setdefault(job.task.id, []).append(run.result())

    async def assist(self, job: Job, name: str, limits: TaskLimits, equip: Equip) -> TaskResult:
        """Lets a helper, who is none of the crew's agents, do a piece of work; arguments as for `attempt`.

        What it spends belongs to whoever has it help. What there is of it is among `assisted` at any time.
        """
        run = self._workshop.piece(job, name, limits)
        self._helpers[run.context.machine.machine_id] = run
        equip(run.context)
        return await self._piece(run)

    def assisted(self, prefix: str) -> Sequence[Assistance]:
        """What helpers have come to whose machines' ids begin so, those of another process first."""
        before = [one for one in self._recorded.pieces_below(prefix) if one.machine_id not in self._helpers]
        now = [run for name, run in self._helpers.items() if name.startswith(prefix)]
        return [
            *(Assistance(result_of(one), one.note.get("about", "")) for one in before),
            *(Assistance(run.result(), run.context.about) for run in now),
        ]

    def attempts(self, task_id: str) -> Sequence[TaskResult]:
        """What each attempt at a task has come to, in the order in which they have ended."""
        return self._attempts.get(task_id, ())

    def conclude(self, result: TaskResult, *, is_interrupted: bool = False) -> None:
        """Ends a task that agents have made attempts at, with a result that the process has put together."""
        if is_interrupted and self.options.recorder is not None:
            self.options.recorder.leave()
        self._results[result.id] = result
        if self._life_cycles.task_closed(result):
            tell(self.options.observer.task_finished, result)
        else:
            tell(self.options.observer.task_restored, TaskRestored(result, self._machines[result.id]))

    def is_available(self, agent_id: str) -> bool:
        """Whether an agent is not out of service."""
        return self._life_cycles.agents.is_available(agent_id)

    def decide(self, decision: Decision) -> None:
        """Takes note of a decision."""
        self._decisions.append(decision)
        tell(self.options.observer.decided, decision)

    async def perform(self, job: Job, *, retry: int = 0, max_retries: int = 0) -> bool:
        """Makes a machine for a task and drives it to its end.

        In a run that goes on, a machine that had ended is not driven again: it is told what it gave. One that
        was under way goes on from its last transition.

        Args:
            job: The task, ready.
            retry: How often the process has begun the task before.
            max_retries: How often it would begin it again: until then a failed task has not ended.

        Returns:
            Whether the task has ended.

        Raises:
            CancelledError: The run was cancelled; the task's result says so.
            Exception: What the journal raises.
        """
        had_ended = self._recorded.has_ended(job.task.id)
        run = self._workshop.task(job, self._retried.get(job.task.id))
        if not had_ended:
            await self._drive(run)
        result = run.result()
        has_ended = result.status is not TaskRunStatus.FAILED or retry >= max_retries
        if not had_ended:
            self._life_cycles.attempt_ended(result)
        if has_ended:
            self._results[result.id] = result
            if had_ended:
                tell(self.options.observer.task_restored, TaskRestored(result, run.context.machine))
            else:
                tell(self.options.observer.task_finished, result)
            return True
        self._retried[result.id] = result
        if not had_ended:
            tell(self.options.observer.task_retried, TaskRetried(result.id, result, retry + 1, max_retries))
        return False

    def was_answered(self, name: str) -> bool:
        """Whether consulting an agent will only tell what it has answered in another process."""
        return self._recorded.has_ended_piece(f"{self.options.run_id}/{name}")

    def validations_before(self, task_id: str) -> int:
        """How often the task's next machine has left `validating` in another process."""
        found = self._recorded.next_of(task_id)
        steps = () if found is None else found.history
        return sum(step.from_state == TaskState.VALIDATING for step in steps)

    def has_recorded(self, task_id: str) -> bool:
        """Whether performing the task will only tell what another process has done."""
        return self._recorded.has_ended(task_id)

    def recorded(self, name: str) -> Snapshot | None:
        """Where another process has left the machine of a name that the process of the crew runs on."""
        return self._recorded.snapshot(self.machine_id(name))

    def machine_id(self, name: str) -> str:
        """The id of the machine that the process of the crew runs on: no task's machine has it."""
        return f"{self.options.run_id}:{name}"

    def commit_hook(self) -> MachineRecord | None:
        """The commit hook of that machine."""
        return None if self.options.recorder is None else MachineRecord(self.options.recorder)

    def stop(self, why: str) -> None:
        """Lets the run end as failed: nothing more will be begun."""
        self._stopped = why

    def broken_off(self, error: BaseException) -> str:
        """Says that something could not go on, such as without its journal."""
        return f"broken off: {self.options.secrets.hidden(str(error))}"

    def finish(self, *, cancelled: bool = False, error: BaseException | None = None) -> CrewResult:
        """Puts the result together; tasks that were never begun are marked.

        Args:
            cancelled: Whether the run was cancelled.
            error: What broke the run off, such as a journal that cannot be written.
        """
        is_interrupted = cancelled or error is not None
        if is_interrupted and self.options.recorder is not None:
            self.options.recorder.leave()
        if error is not None:
            self.stop(f"the run was {self.broken_off(error)}")
        for task in self.config.tasks.values():
            if task.id not in self._results:
                self._leave(task, cancelled=cancelled)
        tasks = {task_id: self._results[task_id] for task_id in self.config.tasks}
        status = run_status(tasks.values(), cancelled=cancelled, stopped=self._stopped is not None)
        self._life_cycles.run_ended(status)
        # As they were begun, or as they come where one comes after another.
        begun = self.order if self.config.process == "sequential" else list(self._begun)
        result = CrewResult(
            crew=self.config.name,
            status=status,
            output=last_output(tasks[task] for task in begun),
            error=self._stopped if error is not None else what_went_wrong(self._stopped, tasks.values()),
            usage=sum((task.usage for task in tasks.values()), self._asked),
            tasks=tasks,
            run_id=self.options.run_id,
            states=self._life_cycles.states(),
            decisions=tuple(self._decisions),
        )
        try:
            self._write_down(result, is_interrupted=is_interrupted)
        finally:
            tell(self.options.observer.crew_finished, result)
        return result

    def _write_down(self, result: CrewResult, *, is_interrupted: bool) -> None:
        if self.options.recorder is None:
            return
        if is_interrupted:
            self.options.recorder.interrupt()
        else:
            self.options.recorder.end(result)

    async def _drive(self, run: TaskRun) -> None:
        """Lets an agent work on a task."""
        self._life_cycles.task_began(run.task.id, run.agent.id)
        try:
            await run.perform()
        except BaseException as error:
            if self.options.recorder is not None:
                self.options.recorder.leave()
            result = run.result()
            self._end(
                replace(result, status=TaskRunStatus.FAILED, error=self.broken_off(error))
                if isinstance(error, Exception)
                else result
            )
            raise
        run.note_down()

    async def _piece(self, run: TaskRun) -> TaskResult:
        """Lets an agent work on what is no task by itself, unless another process has seen its end."""
        if self._recorded.has_ended_piece(run.context.machine.machine_id):
            return run.result()
        agents = self._life_cycles.agents
        has_life_cycle = run.agent.id in self.config.agents
        if has_life_cycle:
            agents.began(run.agent.id)
        try:
            await run.perform()
        finally:
            if has_life_cycle:
                agents.ended(run.agent.id, failed=run.result().status is TaskRunStatus.FAILED)
        run.note_down()
        return run.result()

    def _chosen_before(self, task_id: str) -> str | None:
        """The agent that another process has chosen for a task, if the crew still has it."""
        found = self._recorded.next_of(task_id)
        agent = None if found is None else found.note["agent"]
        return agent if agent in self.config.agents else None

    def _end(self, result: TaskResult) -> None:
        """A task that was begun has its result."""
        self._results[result.id] = result
        self._life_cycles.attempt_ended(result)
        tell(self.options.observer.task_finished, result)

    def _never_begun(self, task: TaskConfig, status: TaskRunStatus, why: str) -> None:
        """A task has its result without an agent having worked on it."""
        self._results[task.id] = TaskResult(task.id, status, error=why, agent=task.agent or None)
        self._life_cycles.given_up(task.id)
        tell(self.options.observer.task_finished, self._results[task.id])

    def _leave(self, task: TaskConfig, *, cancelled: bool) -> None:
        """The run is over, the task is not: what was reached stays."""
        if (reached := self._retried.get(task.id)) is not None:
            self._results[task.id] = reached
            tell(self.options.observer.task_finished, reached)
            return
        why = "the run was cancelled before" if cancelled else "the run was broken off before"
        self._never_begun(task, TaskRunStatus.CANCELLED, why)

    def _gave_something(self, task_id: str) -> bool:
        result = self._results.get(task_id)
        return result is not None and result.status in GAVE_SOMETHING


async def _checked(check: Callable[[str], str | None], answer: str, _number: int) -> Verdict:
    return Verdict(check(answer))
