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
from orkeon_transitions.graph import StateGraph
from orkeon_transitions.machines import machine_definition

MACHINE = "graph_router"


@dataclass(slots=True)
class Queue:
    """The state that goes through the graph.

    Attributes:
        waiting: The tasks that have not ended, in order; one that is to be retried is at the head.
        retries: How often each task was begun again.
        next_job: The task at the head, ready.
    """

    waiting: deque[str]
    retries: Counter[str] = field(default_factory=Counter)
    next_job: Job | None = None


async def run_graph(run: CrewRun) -> None:
    """Runs the crew as a graph; one that the circuit breaker stops ends as failed, with what was produced."""
    limits = graph_limits(run.config)
    nodes = _Nodes(run, limits.max_retry_cycles)
    graph: StateGraph[Queue] = StateGraph.from_definition(
        machine_definition(MACHINE),
        nodes={"execute_task": nodes.execute_task, "route": nodes.route},
        routers={"route": nodes.where_next},
        policy=limits.policy,
    )
    runner = graph.compile(clock=run.options.clock)
    try:
        await runner.run(nodes.begin(), machine_id=f"{run.options.run_id}/{MACHINE}")
    except GraphCircuitBrokenError as error:
        run.stop(f"circuit breaker of the graph: {error.reason}")


class _Nodes:
    """What the nodes and the router of the graph do."""

    def __init__(self, run: CrewRun, max_retries: int) -> None:
        self._run = run
        self._max_retries = max_retries

    def begin(self) -> Queue:
        return self.route(Queue(deque(self._run.order)))

    async def execute_task(self, queue: Queue) -> Queue:
        """Node: the task at the head is worked on."""
        job = queue.next_job
        if job is None:
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
        return "execute_task" if queue.waiting else "end"
