"""What the tests of the store share: a small definition, its later versions, and machines of it."""

from orkeon_transitions.runtime import AsyncStateMachine, StateMachine

LAMP = {
    "name": "lamp",
    "initial": "off",
    "states": ["off", "on", {"name": "broken", "final": True}],
    "transitions": [
        ["switch_on", "off", "on"],
        ["switch_off", "on", "off"],
        ["drop", "*", "broken"],
    ],
}
RENAMED = {
    "name": "lamp",
    "initial": "dark",
    "states": ["dark", "bright", {"name": "broken", "final": True}],
    "transitions": [
        ["switch_on", "dark", "bright"],
        ["switch_off", "bright", "dark"],
        ["drop", "*", "broken"],
    ],
}
DIMMED = {**LAMP, "transitions": [*LAMP["transitions"], ["dim", "on", None]]}


class Lamp(StateMachine):
    """A class with a definition of its own, and fields that last."""

    persisted = ("colour", "places")

    def __init__(self, colour="white", **options):
        self.colour = colour
        self.places = set()
        super().__init__(LAMP, **options)


class AsyncLamp(AsyncStateMachine):
    """The same, async."""

    persisted = ("colour",)

    def __init__(self, colour="white", **options):
        self.colour = colour
        super().__init__(LAMP, **options)
