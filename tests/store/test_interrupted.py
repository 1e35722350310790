"""Ctrl-C while a fact is written: what is written has happened, what has not happened is not written."""

import dis
import sys
from contextlib import contextmanager

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime import machine as machines
from orkeon_transitions.store import JsonlJournal, MachineStore, committing, journal, replay
from orkeon_transitions.store.database import swap
from tests.store.stored_machines import Lamp

OURS = {module.__file__ for module in (machines, journal, committing, swap)}
WRITING = {"_settle", "_commit"}


@contextmanager
def interrupt_at(number):
    """Interrupts at the number-th place, while a fact is written, where the interpreter looks for signals."""
    seen, depth, was_call = 0, 0, {}

    def trace(frame, event, argument):
        nonlocal depth
        if frame.f_code.co_filename not in OURS or not (depth or frame.f_code.co_name in WRITING):
            return None
        depth += 1
        frame.f_trace_opcodes = True
        return step

    def step(frame, event, argument):
        nonlocal seen, depth
        if event == "return":
            depth -= 1
        if event != "opcode":
            return step
        name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        looks = was_call.get(frame, False)
        was_call[frame] = name == "CALL"
        # A lock that was just taken is another matter.
        if looks and (frame.f_code.co_name != "_swap_in_sqlite" or "execute" in frame.f_locals):
            seen += 1
            if seen == number:
                sys.settrace(None)
                raise KeyboardInterrupt
        return step

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def a_journal(folder, number):
    path = folder / f"{number}.jsonl"
    with JsonlJournal(path) as kept:
        yield kept, path


@contextmanager
def a_store(folder, number):
    with MachineStore(f"sqlite:///{folder}/{number}.db") as kept:
        yield kept, kept


@contextmanager
def a_store_in_memory(folder, number):
    with MachineStore("sqlite://") as kept:
        yield kept, kept


def transition(lamp):
    lamp.fire("switch_on")


def trip(lamp):
    lamp.fire("switch_on")
    with pytest.raises(CircuitBrokenError):
        lamp.fire("switch_off")


def anew(lamp):
    lamp.fire("switch_on")
    lamp.reset_circuit_breaker()


@pytest.mark.parametrize("do", [transition, trip, anew])
@pytest.mark.parametrize("place", [a_journal, a_store, a_store_in_memory])
def test_an_interrupt_at_any_moment_of_writing(tmp_path, place, do):
    number, was_interrupted = 0, True
    while was_interrupted:
        number += 1
        with place(tmp_path, number) as (keeper, source):
            policy = CircuitBreakerPolicy(max_transitions=1 if do is trip else 50)
            lamp = Lamp(machine_id="l1", policy=policy)
            keeper.record(lamp)
            was_interrupted = False
            try:
                with interrupt_at(number):
                    do(lamp)
            except KeyboardInterrupt:
                was_interrupted = True
            told = replay(source, lamp.definition, "l1")
            where = f"interrupted at place {number}"
            assert (told.final_state, told.transition_count) == (lamp.state, lamp.transition_count), where
            assert told.is_circuit_broken == lamp.is_circuit_broken, where
            # It goes on: nothing is missing, and nobody else has written.
            lamp.reset_circuit_breaker()
            lamp.fire("switch_off" if lamp.state == "on" else "switch_on")
            told = replay(source, lamp.definition, "l1")
            assert not told.anomalies, where
            assert told.final_state == lamp.state, where
    assert number > 20


def test_a_hook_that_is_a_function_has_written_what_it_returned_from():
    written, was_there = [], []
    lamp = Lamp(commit=lambda fact, snapshot: written.append(fact))

    def trace(frame, event, argument):
        if written and not was_there and frame.f_code is machines.refuse_awaitable.__code__:
            was_there.append(True)
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            lamp.fire("switch_on")
    finally:
        sys.settrace(before)
    assert was_there
    assert written[0].to_state == "on"
    assert (lamp.state, lamp.transition_count) == ("on", 1)
