"""What is drawn: a definition, how its callbacks are given, and what happens to its machines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from typing import Any

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition

GUARDS = ("ready", "allowed", "open_now", "spare_guard")
ACTIONS = ("note", "count", "tell", "spare_action")
TRIGGERS = ("go", "turn", "call", "way out", "stop")
# How a callback is given.
PLACES = (
    *("method", "inherited", "static", "class", "partialmethod"),
    *("mapping", "object", "partial", "typed"),
)
OFF = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}


@dataclass(frozen=True)
class Op:
    """One thing that happens.

    Attributes:
        number: Its place in the world's script, which also seeds what callbacks do meanwhile.
        what: The kind of thing.
        machine: To which machine.
        trigger: With which trigger, where there is one.
        context: With which context.
        payload: With which payload.
        seconds: How long, where time plays a part.
        name: Of which callback, meter or listener, where there is one.
        parts: What happens at the same time.
    """

    number: int
    what: str
    machine: int = 0
    trigger: Any = "go"
    context: Any = None
    payload: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0
    name: str = ""
    parts: tuple[Op, ...] = ()


@dataclass(frozen=True)
class World:
    """Everything that is known before the first machine is made.

    Attributes:
        seed: What it was drawn from.
        is_async: Of which kind its machines are.
        definition: Which all its machines share.
        places: How each callback is given, for each machine.
        policies: For each machine, or None: the definition's.
        hooks: What the machines' class overrides.
        enums: Whether states and triggers are members of an Enum, given by the class or by the constructor.
        kinds: Of which class each machine is: 0 or 1.
        temper: How much callbacks do: raise, fire, answer oddly.
        commits: What each machine's commit hook is like.
        script: What happens.
    """

    seed: int
    is_async: bool
    definition: MachineDefinition
    places: tuple[dict[str, str], ...]
    policies: tuple[CircuitBreakerPolicy | None, ...]
    hooks: frozenset[str]
    enums: str
    kinds: tuple[int, ...]
    temper: str
    commits: tuple[str, ...]
    script: tuple[Op, ...]

    def without(self, numbers: set[int]) -> World:
        """The same world, in which some things do not happen."""
        return replace(self, script=tuple(op for op in self.script if op.number not in numbers))


def draw(seed: int) -> World:
    """The world of a seed: always the same."""
    rng = Random(seed)
    is_async = seed % 2 == 1
    # Half of the worlds are simple ones: what is common is what is made shortest, and must be met often.
    is_simple = rng.random() < 0.5
    config = _config(rng, is_simple)
    machines = range(2)
    hooks = {"fields", "written", "clock", "budget", "fire", "default"}
    temper = rng.choice((*["calm"] * 5, "lively", "lively", "wild", "deep"))
    # Callbacks that fire inside of each other come to an end by themselves.
    policies = tuple(_policy(rng) if rng.random() < 0.7 else None for _ in machines)
    if temper == "deep":
        _without_obstacles(config)
    definition = load_definition(config)
    # Where everything is a method, a machine needs to look nowhere else.
    forms = rng.choice((PLACES, PLACES, ("method",)))
    places = tuple({name: rng.choice(forms) for name in (*GUARDS, *ACTIONS)} for _ in machines)
    return World(
        seed=seed,
        is_async=is_async,
        definition=definition,
        places=places,
        policies=(CircuitBreakerPolicy(**OFF),) * 2 if temper == "deep" else policies,
        hooks=frozenset(hook for hook in sorted(hooks) if rng.random() < (0.03 if is_simple else 0.3)),
        enums=rng.choice(("none", "none", "class", "given")),
        kinds=(0, rng.choice((0, 0, 1))),
        temper=temper,
        commits=tuple(rng.choice((*["none"] * 5, "plain", "async", "raising")) for _ in machines),
        script=tuple(_op(rng, number, definition, is_async) for number in range(rng.randint(6, 26))),
    )


def _without_obstacles(config: dict[str, Any]) -> None:
    """Lets callbacks that fire do so, deeper and deeper."""
    config.pop("guards", None)
    for row in config["transitions"]:
        row.pop("before", None)
        row.pop("unless", None)
        row["after"] = ["note"]
    for state in config["states"]:
        state.pop("on_exit", None)
        state["final"] = False


def _config(rng: Random, is_simple: bool) -> dict[str, Any]:
    names = [f"s{number}" for number in range(rng.randint(1, 3 if is_simple else 5))]
    if rng.random() < 0.2:
        names[-1] = rng.choice(("zwei Wörter", "on", "1", "状態"))
    finals = {name for name in names[1:] if rng.random() < 0.1}
    rows = [_row(rng, names, is_simple) for _ in range(rng.randint(2, 11))]
    states = []
    for name in names:
        state: dict[str, Any] = {"name": name, "final": name in finals}
        state |= {
            key: _some(rng, ACTIONS)
            for key in ("on_enter", "on_exit")
            if rng.random() < (0.15 if is_simple else 0.4)
        }
        here = sorted({row["trigger"] for row in rows if name in row["source"] or "*" in row["source"]})
        if name not in finals and rng.random() < (0.1 if is_simple else 0.3):
            state["timeout"] = rng.choice((0, 2, 3, 7))
            if here and state["timeout"] and rng.random() < 0.6:
                state["on_timeout"] = rng.choice(here)
        states.append(state)
    config = {"name": "world", "initial": names[0], "states": states, "transitions": rows}
    if rng.random() < 0.7:
        config["degraded"] = rng.choice(names)
    if rng.random() < 0.5:
        config["circuit_breaker"] = _policy(rng)
    used = {guard for row in rows for key in ("conditions", "unless") for guard in row.get(key, ())}
    if used and rng.random() < 0.5:
        config["guards"] = {guard: rng.choice(("must be so", None)) for guard in sorted(used)}
    return config


def _row(rng: Random, names: list[str], is_simple: bool) -> dict[str, Any]:
    sources = ["*"] if rng.random() < 0.25 else rng.sample(names, rng.randint(1, min(3, len(names))))
    row: dict[str, Any] = {
        "trigger": rng.choice(TRIGGERS),
        "source": sources,
        "dest": rng.choice([*names, *names, "=", None]),
    }
    for key, among, chance in (
        ("conditions", GUARDS, 0.4),
        ("unless", GUARDS, 0.2),
        ("before", ACTIONS, 0.4),
        ("after", ACTIONS, 0.4),
    ):
        if rng.random() < chance and not (is_simple and key == "unless"):
            row[key] = _some(rng, among)[: 1 if is_simple else 2]
    if rng.random() < 0.15:
        row["always"] = True
    if rng.random() < (0.1 if is_simple else 0.4):
        row["repeatable"] = False
    return row


def _some(rng: Random, names: tuple[str, ...]) -> list[str]:
    return rng.sample(names[:3], rng.choice((1, 1, 2)))


LIMITS: dict[str, tuple[Any, ...]] = {
    "max_transitions": (1, 2, 3, 5, 8),
    "state_timeout": (2, 4, 9),
    "max_state_visits": (1, 2, 3, 4),
    "max_total_duration": (5, 15),
    "meters": ({"tokens": 6},),
    "max_repeats": (1, 2, 3),
}


def _policy(rng: Random) -> CircuitBreakerPolicy:
    """Often a single limit, so that it is the one that trips; now and then none, or several."""
    count = rng.choice((0, 1, 1, 1, 1, 2, 3))
    chosen = {name: rng.choice(LIMITS[name]) for name in rng.sample(sorted(LIMITS), count)}
    return CircuitBreakerPolicy(**(OFF | chosen), use_degraded_mode=rng.random() < 0.5)


_PLAIN_OPS = (
    *(["fire"] * 14),
    *(["try_fire"] * 12),
    *(["by_name"] * 4),
    *(["wait"] * 9),
    *("why_not", "can_fire", "permitted", "fire_later", "fire_later", *["spend"] * 4, "reset", "check"),
    *("listen", "unlisten", "rewire", "rewire", "restore", "new_policy", "burst", "burst", "misuse"),
)
_ASYNC_OPS = (*_PLAIN_OPS, *(["together"] * 4), "during", "during")


def _op(
    rng: Random, number: int, definition: MachineDefinition, is_async: bool, *, inner: bool = False
) -> Op:
    what = rng.choice(_ASYNC_OPS if is_async else _PLAIN_OPS)
    if inner and what in ("together", "restore", "burst"):
        what = "fire"
    known = definition.triggers or ("go",)
    trigger: Any = rng.choice(known) if rng.random() < 0.93 else rng.choice(("nowhere", "goo", "_fire", ""))
    parts: tuple[Op, ...] = ()
    if what == "together":
        parts = tuple(
            _op(rng, number * 100 + part, definition, is_async, inner=True)
            for part in range(rng.randint(2, 4))
        )
    return Op(
        number=number,
        what=what,
        machine=rng.choice((0, 0, 0, 1)),
        trigger=trigger,
        context=rng.choice((None, None, 7, "text")),
        payload={key: rng.choice((0, 1, [1, 2])) for key in ("n", "name") if rng.random() < 0.3},
        seconds=rng.choice((0, 1, 1, 2, 3, 5, 8, 20)),
        name=rng.choice((*GUARDS, *ACTIONS)),
        parts=parts,
    )


def members(names: tuple[str, ...], kind: str) -> type[Enum]:
    """An Enum of these names."""
    return Enum(kind, {f"M{number}": name for number, name in enumerate(names)})
