"""What goes over the socket, and what waits to go."""

import asyncio
import json
import threading

import pytest

from orkeon_transitions.explorer.messages import BadMessageError, Outbox, decoded, encoded


def test_a_message_is_an_object_that_says_what_to_do():
    assert decoded('{"do": "fire", "context": {"a": [1, 2.5, null]}}') == {
        "do": "fire",
        "context": {"a": [1, 2.5, None]},
    }


@pytest.mark.parametrize(
    "data", [None, b'{"do": "x"}', "", "x", "[]", "{}", '{"do": null}', '{"do": Infinity}']
)
def test_anything_else_is_none(data):
    with pytest.raises(BadMessageError, match="a message"):
        decoded(data)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [("ü\u2028</script>", "ü\u2028</script>"), (float("nan"), None), ("\udcff", "\udcff"), ((1, 2), [1, 2])],
)
def test_what_is_sent_is_json_whatever_it_holds(value, arrives):
    assert json.loads(encoded({"value": value})) == {"value": arrives}


def test_of_each_trait_the_newest_value_is_sent():
    async def scenario():
        outbox = Outbox()

        def work():
            for number in range(10_000):
                outbox.put({"at": number})
            outbox.put({"end": True})

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        assert await outbox.take() == {"at": 9999, "end": True}
        outbox.put({"at": 1})
        assert await outbox.take() == {"at": 1}

    asyncio.run(scenario())


def test_what_changed_while_everything_was_looked_at_is_newer():
    async def scenario():
        outbox = Outbox()
        outbox.put({"at": 2})
        outbox.put_below({"at": 1, "page": "machine"})
        assert await outbox.take() == {"at": 2, "page": "machine"}

    asyncio.run(scenario())


def test_whoever_waits_is_told_of_the_end():
    async def scenario():
        outbox = Outbox()
        taking = asyncio.create_task(outbox.take())
        await asyncio.sleep(0)
        outbox.put({"at": 1})
        outbox.close()
        assert await taking is None
        return outbox

    outbox = asyncio.run(scenario())
    outbox.put({"at": 2})  # the loop is gone, and whoever tells does not know
