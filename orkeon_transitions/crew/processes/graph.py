"""The graph process (seed 002): execute a task, look at what remains, go on or end.

The topology is the machine `graph_router`, the run is one of a `StateGraph`, and the graph's breaker stops a
crew that goes round in circles. A task that failed goes back to the head of the queue and gets a new machine,
until its retries are used up; then it is abandoned, and whoever needs it is skipped.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from orkeon_transitions.crew.processes.process import CrewRun, Job
from orkeon_transitions.crew.resolution import graph_limits
from orkeon_transitions.errors import GraphCircuitBrokenError
from orkeon_transitions.facts import Snapshot
from orkeon_transitions.graph import StateGraph
from orkeon_transitions.machines import machine_definition

MACHINE = "graph_router"
EXECUTE = "execute_task"


@dataclass(slots=True)
class Queue:
    """The state that goes through the graph.

    Attributes:
        waiting: The tasks that have not ended, in order; one that is to be retried is at the head.
        retries: How often each task was begun again.
        next_job: The task at the head, ready.
        has_executed: Whether the node that another process was stopped in had done its work.
    """

    waiting: deque[str]
    retries: Counter[str] = field(default_factory=Counter)
    next_job: Job | None = None
    has_executed: bool = False


async def run_graph(run: CrewRun) -> None:
    """Runs the crew as a graph; one that the circuit breaker stops ends as failed, with what was produced.

    In a run that goes on, the graph's machine does so, too: what it has used of its limits is used.
    """
    limits = graph_limits(run.config)
    nodes = _Nodes(run, limits.max_retry_cycles)
    graph: StateGraph[Queue] = StateGraph.from_definition(
        machine_definition(MACHINE),
        nodes={EXECUTE: nodes.execute_task, "route": nodes.route},
        routers={"route": nodes.where_next},
        policy=limits.policy,
    )
    runner = graph.compile(clock=run.options.clock)
    before = run.recorded(MACHINE)
    queue = await nodes.begin(before)
    try:
        await runner.run(queue, commit=run.commit_hook(), machine_id=run.machine_id(MACHINE), snapshot=before)
    except GraphCircuitBrokenError as error:
        run.stop(f"circuit breaker of the graph: {error.reason}")


class _Nodes:
    """What the nodes and the router of the graph do."""

    def __init__(self, run: CrewRun, max_retries: int) -> None:
        self._run = run
        self._max_retries = max_retries

    async def begin(self, before: Snapshot | None) -> Queue:
        """The queue at the beginning, or as another process has left it.

        Args:
            before: Where that process has left the graph's machine.
        """
        queue, executed = self.route(Queue(deque(self._run.order))), 0
        while queue.next_job is not None and self._run.has_recorded(queue.next_job.task.id):
            executed += 1
            self.route(await self.execute_task(queue))
        if before is not None and before.state == EXECUTE:
            queue.has_executed = executed == before.visits[EXECUTE]
        return queue

    async def execute_task(self, queue: Queue) -> Queue:
        """Node: the task at the head is worked on."""
        job = queue.next_job
        if job is None or queue.has_executed:
            queue.has_executed = False
            return queue
        task = queue.waiting.popleft()
        queue.next_job = None
        ended = await self._run.perform(job, retry=queue.retries[task], max_retries=self._max_retries)
        if not ended:
            queue.retries[task] += 1
            queue.waiting.appendleft(task)
        return queue

    def route(self, queue: Queue) -> Queue:
        """Node: what cannot be begun any more is left out, up to the next task that can."""
        while queue.waiting and queue.next_job is None:
            queue.next_job = self._run.prepare(queue.waiting[0])
            if queue.next_job is None:
                queue.waiting.popleft()
        return queue

    def where_next(self, queue: Queue) -> str:
        """Router: is there another task?"""
        return EXECUTE if queue.waiting else "end"
