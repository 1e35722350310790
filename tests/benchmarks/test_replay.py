"""What replay costs, beside reading the same lines with `json.loads` and doing nothing with them.

`pytest tests/benchmarks/test_replay.py --benchmark-enable -s` prints the ratio: the median of pairs that are
measured one after the other, in CPU time. Without the option a short journal is replayed once, as a test.
"""

import gc
import json
import statistics
import time

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.machines import TaskExecution, machine_definition
from orkeon_transitions.store import JsonlJournal, replay

TASK = machine_definition("task_execution")
HIGH = CircuitBreakerPolicy(
    max_transitions=10**12, state_timeout=10**6, max_state_visits=10**12, max_total_duration=10**6
)
MOST = 3.0
FIVE_KEYS = ("timestamp", "session_id", "trigger", "from_state", "to_state")


def journal(path, rounds):
    machine = TaskExecution(policy=HIGH, max_tool_calls_per_round=10**12, machine_id="t1")
    with JsonlJournal(path) as open_journal:
        open_journal.record(machine)
        machine.begin_execution()
        for _ in range(rounds):
            machine.request_tool_call()
            machine.tool_call_completed()
    return path


def five_keys(path, rounds):
    records = [json.loads(line) for line in journal(path, rounds).read_text().splitlines()]
    path.write_text("".join(f"{json.dumps({key: record[key] for key in FIVE_KEYS})}\n" for record in records))
    return path


def many_machines(path, rounds):
    lines = journal(path, rounds).read_text().splitlines(keepends=True)
    path.write_text("".join(line.replace('"t1"', f'"t{n % 50}"') for n, line in enumerate(lines)))
    return path


def spent(work):
    before = time.process_time()
    work()
    return time.process_time() - before


def ratio(path, machine_id, times):
    lines = path.read_text().splitlines()
    pairs = []
    for _ in range(times):
        gc.collect()
        alone = spent(lambda: [json.loads(line) for line in lines])
        pairs.append(spent(lambda: replay(path, TASK, machine_id)) / alone)
    return statistics.median(pairs)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("write", [journal, five_keys, many_machines], ids=lambda write: write.__name__)
def test_replay_costs_little_more_than_parsing(tmp_path, write, request, capsys):
    measured = request.config.getoption("benchmark_enable")
    path = write(tmp_path / "run.jsonl", 5_000 if measured else 50)
    machine_id = "t1" if write is many_machines else None
    assert replay(path, TASK, machine_id).steps
    if measured:
        found = ratio(path, machine_id, times=15)
        with capsys.disabled():
            print(f"\nreplay of {write.__name__} / json.loads of its lines: {found:.2f}")
        assert found <= MOST
