"""What is read: a journal, a definition, the package itself."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orkeon_transitions.definition import check_definition, load_definition
from orkeon_transitions.store import JsonlJournal, replay
from tests.benchmarks.pairs import Effort, Figures, Pairs, Row, compare, cpu
from tests.benchmarks.rings import HIGH, Ring, ring, times

LINES = 5_000


def _replaying(effort: Effort) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        path, definition = Path(folder, "run.jsonl"), ring()
        with JsonlJournal(path) as journal:
            machine = Ring(definition, policy=HIGH)
            journal.record(machine)
            for _ in range(LINES // effort.factor):
                machine.fire("advance")
        assert replay(path, definition).final_state == machine.state

        def parsed() -> None:
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    json.loads(line)

        return compare(times(replay, path, definition), times(parsed), effort)


def _journaling(effort: Effort) -> Figures:
    """A fired trigger whose fact is written and flushed, beside the same line written and flushed by hand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        with JsonlJournal(path) as journal, Path(folder, "plain.jsonl").open("ab", buffering=0) as plain:
            machine = Ring(ring(), policy=HIGH)
            journal.record(machine)
            machine.fire("advance")
            record = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])

            def by_hand() -> None:
                plain.write(json.dumps(record).encode() + b"\n")

            return compare(times(machine.fire, "advance"), times(by_hand), effort)


def config(states: int) -> dict[str, Any]:
    """A definition of so many states and ten times as many rows, each of them with a guard and an action."""
    names = [f"s{number}" for number in range(states)]
    parts = {"conditions": ["ready"], "before": ["note"]}
    rows = [
        {
            "trigger": f"t{jump}",
            "source": name,
            "dest": names[(number * 7 + jump * 13 + 1) % states],
            **parts,
        }
        for number, name in enumerate(names)
        for jump in range(9)
    ]
    ring_of_all = [
        {"trigger": "go", "source": name, "dest": names[(number + 1) % states], **parts}
        for number, name in enumerate(names)
    ]
    return {"name": "large", "initial": "s0", "states": names, "transitions": rows + ring_of_all}


def _growing(
    text: Callable[[dict[str, Any]], Any], *, with_machine: bool = False
) -> Callable[[Effort], Figures]:
    """Ten times as much beside a tenth of it: 10 where time is linear in the size."""

    def work(source: Any) -> None:
        definition = load_definition(source)
        check_definition(definition)
        if with_machine:
            Ring(definition, guards={"ready": bool}, actions={"note": bool}).try_fire("go")

    def run(effort: Effort) -> Figures:
        states = max(1_000 // effort.factor, 100)
        large, small = text(config(states)), text(config(states // 10))
        pairs = Pairs()
        work(small)
        for _ in range(min(effort.rounds, 7)):
            # The small one as often as it takes to be as long: a single one is too short to be measured well.
            pairs.add(cpu(lambda: work(large)), cpu(lambda: times(work, small)(10)) / 10)
        return pairs.figures()

    return run


def _as_yaml(data: dict[str, Any]) -> str:
    rows = "\n".join(
        f"  - {{trigger: {row['trigger']}, source: {row['source']}, dest: {row['dest']}, "
        "conditions: ready, before: note}"
        for row in data["transitions"]
    )
    return (
        f"name: {data['name']}\ninitial: {data['initial']}\n"
        f"states: [{', '.join(data['states'])}]\ntransitions:\n{rows}\n"
    )


def _importing(ours: str, theirs: str) -> Callable[[Effort], Figures]:
    def run(effort: Effort) -> Figures:
        pairs = Pairs()
        for number in range(effort.rounds + 1):
            taken = _import_time(ours), _import_time(theirs)
            if number:  # the first one may have had to compile
                pairs.add(*taken)
        return pairs.figures()

    return run


def _import_time(statement: str) -> float:
    """The CPU of an import alone, in a process of its own."""
    program = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


BASE, USED = "import transitions, pydantic", "from transitions import Machine; from pydantic import BaseModel"
TABLE = [
    Row("replay", "replay of a JSON-lines journal", "`json.loads` of its lines", _replaying, 3, 2),
    Row("journal", "a fired trigger with a journal", "its line, encoded and written by hand", _journaling),
    Row(
        "load",
        "load + check of 1,000 states and 10,000 rows, from YAML",
        "of a tenth of it",
        _growing(_as_yaml),
        12,
        10.5,
    ),
    Row("load-data", "the same from plain data", "of a tenth of it", _growing(lambda data: data), 12, 10.5),
    Row(
        "compile",
        "load, check and the first trigger of a machine",
        "of a tenth of it",
        _growing(lambda data: data, with_machine=True),
        12,
        10.5,
    ),
    Row(
        "import",
        "`import orkeon_transitions`",
        f"`{BASE}`",
        _importing("import orkeon_transitions", BASE),
        1.5,
        1.2,
    ),
    Row(
        "import-used",
        "`from orkeon_transitions import StateMachine`",
        f"`{USED}`",
        _importing("from orkeon_transitions import StateMachine", USED),
    ),
]
