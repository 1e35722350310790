"""What the timer must leave alone, and what it does when what it does fails."""

import asyncio
import logging

import pytest

from orkeon_transitions.errors import CircuitBrokenError, StaleMachineError
from orkeon_transitions.facts import CircuitBroken
from tests.runtime.samples import limits
from tests.runtime.watched import WATCHED, Watched, passing
from tests.virtual_time import now, run


def test_a_slow_on_timeout_is_made_once():
    async def main():
        begun = []

        async def left(event):
            begun.append(event.trigger)
            await asyncio.sleep(5)

        machine = Watched(left=left, policy=limits())
        await machine.fire("wait")
        await passing(20)
        assert machine.state == "late"
        assert begun == ["give_up"]
        assert machine.told("transition")[-1][0] == 15.0

    run(main())


def test_a_slow_on_timeout_that_is_fired_by_hand_is_made_once():
    async def main():
        begun = []

        async def left(event):
            begun.append(event.trigger)
            await asyncio.sleep(5)

        machine = Watched(left=left, policy=limits())
        await machine.fire("wait")
        await passing(8)
        assert await machine.fire("give_up")
        assert begun == ["give_up"]

    run(main())


def test_a_slow_on_timeout_is_still_under_the_total_duration():
    async def main():
        async def left(event):
            await asyncio.sleep(1000)

        machine = Watched(left=left, policy=limits(max_total_duration=60))
        await machine.fire("wait")
        await passing(100)
        assert machine.is_circuit_broken
        assert machine.told("circuit_broken")[0][0] == pytest.approx(60, abs=0.1)
        assert machine.state == "waiting"

    run(main())


@pytest.mark.parametrize("stage", ["left", "guard"])
def test_a_row_that_always_passes_is_not_cut_short(stage):
    """Whoever cancels must be able to, also when a limit passes meanwhile."""

    async def main():
        async def slow(event):
            await asyncio.sleep(5)
            return True

        rows = "  - {trigger: cancel, source: waiting, dest: done, always: true, conditions: sure}\n"
        options = {"left": slow} if stage == "left" else {"sure": slow}
        machine = Watched(
            definition=WATCHED.replace(", on_timeout: give_up", "") + rows, policy=limits(), **options
        )
        await machine.fire("wait")
        await passing(8)
        assert await machine.fire("cancel")
        assert machine.state == "done"
        assert not machine.is_circuit_broken

    run(main())


def test_where_an_always_row_leads_the_clock_counts_again():
    async def main():
        async def hang(event):
            await asyncio.sleep(1000)

        text = WATCHED.replace(
            "[start, idle, work]", "{trigger: start, source: idle, dest: work, always: true}"
        )
        machine = Watched(definition=text, entered=hang, policy=limits(state_timeout=60))
        with pytest.raises(CircuitBrokenError, match="State timeout"):
            await machine.fire("start")
        assert now() - 1000 == pytest.approx(60, abs=0.1)

    run(main())


def test_an_on_timeout_that_raises_trips_once(caplog):
    async def main():
        def left(event):
            raise OSError("disk")

        machine = Watched(left=left, policy=limits())
        await machine.fire("wait")
        with caplog.at_level(logging.ERROR, "orkeon_transitions"):
            await passing(1000)
        assert machine.is_circuit_broken
        assert machine.state == "waiting"
        assert len(machine.told("circuit_broken")) == 1
        [record] = [each for each in caplog.records if each.name.startswith("orkeon_transitions")]
        assert record.exc_info[0] is OSError

    run(main())


def test_an_on_timeout_that_raises_after_the_state_was_written_has_been_made(kind, clock):
    def entered(event):
        raise OSError("disk")

    options = {
        "guards": {"may_give_up": lambda e: True},
        "actions": {"left": lambda e: None, "entered": entered},
    }
    machine = kind.make(WATCHED, policy=limits(), clock=clock, **options)
    kind.fire(machine, "wait")
    clock.advance(11)
    with pytest.raises(OSError, match="disk"):
        kind.fire(machine, "rest")
    assert machine.state == "late"
    assert not machine.is_circuit_broken


def test_an_on_timeout_that_raises_trips_at_the_next_fire(kind, clock):
    def left(event):
        raise OSError("disk")

    options = {
        "guards": {"may_give_up": lambda e: True},
        "actions": {"left": left, "entered": lambda e: None},
    }
    machine = kind.make(WATCHED, policy=limits(), clock=clock, **options)
    kind.fire(machine, "wait")
    clock.advance(11)
    with pytest.raises(OSError, match="disk"):
        kind.fire(machine, "tick")
    assert machine.is_circuit_broken
    with pytest.raises(CircuitBrokenError, match="State timeout exceeded"):
        kind.fire(machine, "tick")


def test_a_machine_that_lost_its_place_to_another_writer_is_watched_no_more(caplog):
    attempts = []

    async def main():
        def commit(fact, snapshot):
            if snapshot.ordinal > 1 or snapshot.trip is not None:
                attempts.append(now())
                raise StaleMachineError("machine 'w' was moved on by another writer: reload it")

        machine = Watched(policy=limits(state_timeout=60), commit=commit)
        await machine.fire("start")
        await passing(3600)
        with pytest.raises(StaleMachineError):
            await machine.fire("tick")

    run(main())
    assert len(attempts) == 2, "once by the timer, once by the trigger"
    (record,) = caplog.records
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert "is watched no more: machine 'w' was moved on by another writer" in record.getMessage()


def test_a_trip_that_cannot_be_committed_is_tried_again_but_not_too_often(caplog):
    async def main():
        tried = []

        def commit(fact, snapshot):
            if isinstance(fact, CircuitBroken):
                tried.append(now())
                if is_full:
                    raise OSError("disk full")

        is_full = [True]
        machine = Watched(policy=limits(state_timeout=60), commit=commit)
        await machine.fire("start")
        await passing(90)
        assert not machine.is_circuit_broken
        assert 10 < len(tried) < 40
        is_full.clear()
        await passing(2)
        assert machine.is_circuit_broken

    run(main())
