"""A transition that is stored: snapshot and journal in SQLite, in WAL mode, before the state is visible."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import MissingExtraError
from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store.records import fact_line
from tests.benchmarks.pairs import AbsentError, Effort, Figures, Pairs, Row, compare, cpu

Side = Callable[[int], object]
# All limits are looked at, and none is ever reached.
HIGH = CircuitBreakerPolicy(
    max_transitions=10**12, state_timeout=10**6, max_state_visits=10**12, max_total_duration=10**6
)
BUDGET: dict[str, Any] = {"policy": HIGH, "max_tool_calls_per_round": 10**9}
# A run of the peer has so many steps at least, so that its beginning does not matter.
LEAST = 50


def moving(task: TaskExecution) -> Side:
    """So many transitions of a task that calls tools."""
    task.begin_execution()
    turns = itertools.cycle(("request_tool_call", "tool_call_completed"))

    def move(count: int) -> None:
        for _, trigger in zip(range(count), turns, strict=False):
            task.fire(trigger)

    return move


@contextlib.contextmanager
def stored(folder: Path) -> Iterator[Side]:
    """Ours."""
    try:
        from orkeon_transitions.store import MachineStore
    except MissingExtraError:
        raise AbsentError("SQLAlchemy") from None
    with MachineStore(f"sqlite:///{folder / 'ours.db'}") as store:
        yield moving(store.create(TaskExecution, machine_id="task", **BUDGET))


@contextlib.contextmanager
def wal(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection with the settings that ours has."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("PRAGMA synchronous = NORMAL")
        yield made


@contextlib.contextmanager
def raw(folder: Path) -> Iterator[Side]:
    """The same two rows in one transaction, written by hand: the texts are made beforehand."""
    texts = []
    task = TaskExecution(
        machine_id="task",
        commit=lambda fact, snapshot: texts.append(
            (fact_line(fact, snapshot).decode(), snapshot.model_dump_json())
        ),
        **BUDGET,
    )
    task.begin_execution()
    line, snapshot = texts[0]
    with wal(folder / "raw.db") as connection:
        connection.execute("CREATE TABLE machines (id TEXT PRIMARY KEY, version BIGINT, snapshot TEXT)")
        connection.execute(
            "CREATE TABLE journal (id TEXT, version BIGINT, line TEXT, PRIMARY KEY (id, version))"
        )
        connection.execute("INSERT INTO machines VALUES ('task', 0, '')")
        versions = itertools.count()

        def write(count: int) -> None:
            for _, version in zip(range(count), versions, strict=False):
                connection.execute("BEGIN IMMEDIATE")
                moved = connection.execute(
                    "UPDATE machines SET version = ?, snapshot = ? WHERE id = ? AND version = ?",
                    (version + 1, snapshot, "task", version),
                )
                assert moved.rowcount == 1
                connection.execute("INSERT INTO journal VALUES (?, ?, ?)", ("task", version + 1, line))
                connection.execute("COMMIT")

        yield write


class Left(TypedDict):
    """The state of the peer's graph."""

    left: int


@contextlib.contextmanager
def saver(folder: Path) -> Iterator[Any]:
    """LangGraph's sqlite checkpointer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError:
        raise AbsentError("langgraph-checkpoint-sqlite") from None
    with wal(folder / "langgraph.db") as connection:
        made = SqliteSaver(connection)
        made.setup()
        yield made


@contextlib.contextmanager
def langgraph_step(folder: Path) -> Iterator[Side]:
    """A step of a graph of one node in a loop, with a checkpoint that is there before the next one."""
    with saver(folder) as checkpointer:
        yield _steps(_loop(checkpointer), durability="sync")


def _steps(app: Any, **options: Any) -> Side:
    threads = itertools.count()

    def run(count: int) -> None:
        config = {"recursion_limit": 10**9, "configurable": {"thread_id": str(next(threads))}}
        result = app.invoke({"left": count}, config, **options)
        assert result["left"] <= 0

    return run


def _loop(checkpointer: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langgraph.graph import END, START, StateGraph

    graph: Any = StateGraph(Left)
    graph.add_node("work", lambda state: {"left": state["left"] - 1})
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", lambda state: "work" if state["left"] > 0 else END)
    return graph.compile(checkpointer=checkpointer)


@contextlib.contextmanager
def langgraph_put(folder: Path) -> Iterator[Side]:
    """What such a step writes, and nothing else of it: the checkpoint and the node's writes."""
    with saver(folder) as checkpointer:
        config: Any = {"configurable": {"thread_id": "made", "checkpoint_ns": ""}}
        _loop(checkpointer).invoke({"left": 3}, config, durability="sync")
        last = checkpointer.get_tuple(config)
        assert last is not None
        from langgraph.checkpoint.base.id import uuid6

        def put(count: int) -> None:
            parent = {"configurable": {"thread_id": "put", "checkpoint_ns": ""}}
            for step in range(count):
                checkpoint = {**last.checkpoint, "id": str(uuid6(clock_seq=step))}
                parent = checkpointer.put(parent, checkpoint, {**last.metadata, "step": step}, {})
                checkpointer.put_writes(parent, [("left", step), ("branch:to:work", None)], "task")

        yield put


def _beside(peer: Callable[[Path], contextlib.AbstractContextManager[Side]]) -> Callable[[Effort], Figures]:
    def run(effort: Effort) -> Figures:
        with tempfile.TemporaryDirectory() as name, stored(Path(name)) as ours, peer(Path(name)) as theirs:
            return compare(ours, theirs, effort, least=LEAST)

    return run


def _added(effort: Effort) -> Figures:
    """Beside what the checkpointer adds to a step: the step with it less the step without."""
    with (
        tempfile.TemporaryDirectory() as name,
        stored(Path(name)) as ours,
        langgraph_step(Path(name)) as kept,
    ):
        sides = (ours, kept, _steps(_loop(None)))
        count = max(LEAST, int(effort.seconds / 0.0005))
        for side in sides:
            side(count)
        pairs = Pairs()
        for number in range(effort.rounds):
            taken = [0.0] * len(sides)
            for place in (0, 1, 2) if number % 2 else (2, 1, 0):
                taken[place] = cpu(partial(sides[place], count)) / count
            # A clock that ticks slowly may see no difference in so short a time.
            pairs.add(taken[0], max(taken[1] - taken[2], 1e-9))
        return pairs.figures()


def _unstored(effort: Effort) -> Figures:
    with tempfile.TemporaryDirectory() as name, stored(Path(name)) as ours:
        return compare(ours, moving(TaskExecution(**BUDGET)), effort)


STORED = "a stored transition: snapshot and journal in SQLite (WAL), compare-and-swap"
TABLE = [
    Row(
        "stored-langgraph",
        STORED,
        "a step of LangGraph with its sqlite checkpointer (WAL)",
        _beside(langgraph_step),
        0.30,
    ),
    Row("stored-langgraph-added", STORED, "what the checkpointer adds to such a step", _added),
    Row(
        "stored-langgraph-put",
        STORED,
        "that checkpoint alone: `put` and `put_writes`",
        _beside(langgraph_put),
    ),
    Row("stored-raw", STORED, "two such rows written by hand with `sqlite3`, texts ready", _beside(raw)),
    Row("stored-fire", STORED, "the same transition, not stored", _unstored),
]
