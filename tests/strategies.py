"""What property tests draw: names of every kind, and whole machine definitions."""

from typing import Any

from hypothesis import strategies as st

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition

TRICKY_NAMES = (
    *("on", "off", "yes", "no", "y", "N", "true", "False", "null", "~", "Null"),
    *(
        "1",
        "007",
        "0x1f",
        "0o7",
        "1e3",
        "1_000",
        ".5",
        "-.inf",
        ".nan",
        "1:30",
        "2024-01-01",
        "2001-12-14t21:59:43.10-05:00",
    ),
    *(
        "<<",
        "-",
        "?",
        ":",
        "---",
        "...",
        "#",
        "a #b",
        "a: b",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "'",
        '"',
    ),
    *(
        "[a]",
        "{a}",
        "a, b",
        "a:b",
        'q"x',
        "<b>",
        "back\\slash",
        "end",
        "state A",
        " lead",
        "trail ",
        "é",
        "状態",
        "حالة",
        "🙂",
    ),
)
GUARDS = ("is_ready", "has_budget", "may_go")
ACTIONS = ("note", "count", "tell")


def any_names() -> st.SearchStrategy[str]:
    """Names in any script, the ones that YAML readers trip over among them."""
    fit = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn"))
    text = st.text(fit, min_size=1, max_size=12).filter(lambda name: bool(name.strip()) and name not in "*=")
    return st.sampled_from(TRICKY_NAMES) | text


def identifiers(letter: str, most: int = 8) -> st.SearchStrategy[str]:
    """Names such as `s0` that can also be attributes of a model."""
    return st.integers(0, most - 1).map(lambda number: f"{letter}{number}")


def policies() -> st.SearchStrategy[CircuitBreakerPolicy]:
    """Policies with small limits, any of them switched off now and then."""
    counts, seconds = st.integers(0, 12), st.integers(0, 600) | st.floats(0, 600)
    return st.builds(
        CircuitBreakerPolicy,
        max_transitions=counts,
        state_timeout=seconds,
        max_state_visits=counts,
        max_total_duration=seconds,
        use_degraded_mode=st.booleans(),
        meters=st.dictionaries(any_names(), st.floats(0, 1e9), max_size=2),
        max_repeats=st.integers(0, 3),
    )


@st.composite
def machine_configs(
    draw: st.DrawFn,
    *,
    states: st.SearchStrategy[str] | None = None,
    triggers: st.SearchStrategy[str] | None = None,
    guards: tuple[str, ...] = GUARDS,
    actions: tuple[str, ...] = ACTIONS,
    wildcard: bool = True,
    always: bool = True,
    timeouts: bool = True,
    policy: st.SearchStrategy[Any] | None = None,
    max_states: int = 6,
    max_rows: int = 12,
) -> dict[str, Any]:
    """Plain data that `load_definition` takes: guarded, internal, reflexive and wildcard rows, final states.

    Args:
        draw: Hypothesis' own.
        states: The states' names; identifiers if not given.
        triggers: The triggers' names; identifiers if not given.
        guards: The guards that rows may name; empty: none.
        actions: The actions that rows and states may name; empty: none.
        wildcard: Whether rows from `*` are drawn.
        always: Whether rows may be `always`.
        timeouts: Whether states may have a `timeout`.
        policy: What `circuit_breaker` is drawn from; left out if not given.
        max_states: At most so many states.
        max_rows: At most so many rows.
    """
    names = draw(
        st.lists(identifiers("s") if states is None else states, min_size=1, max_size=max_states, unique=True)
    )
    some_actions = st.lists(st.sampled_from(actions), max_size=2, unique=True) if actions else st.just([])
    some_guards = st.lists(st.sampled_from(guards), max_size=2, unique=True) if guards else st.just([])
    finals = draw(st.sets(st.sampled_from(names), max_size=2))
    sources = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    if wildcard:
        sources = sources | st.just(["*"])
    row = st.fixed_dictionaries(
        {
            "trigger": identifiers("t", 4) if triggers is None else triggers,
            "source": sources,
            "dest": st.sampled_from([*names, "=", None]),
        },
        optional={
            "conditions": some_guards,
            "unless": some_guards,
            "before": some_actions,
            "after": some_actions,
            **({"always": st.booleans()} if always else {}),
            "repeatable": st.booleans(),
            "description": any_names(),
        },
    )
    state = {"on_enter": some_actions, "on_exit": some_actions, "tags": st.lists(any_names(), max_size=2)}
    if timeouts:
        state["timeout"] = st.none() | st.integers(0, 60) | st.floats(0, 60)
    config = {
        "name": draw(any_names()),
        "initial": draw(st.sampled_from(names)),
        "states": [
            {"name": name, "final": name in finals} | draw(st.fixed_dictionaries({}, optional=state))
            for name in names
        ],
        "transitions": draw(st.lists(row, max_size=max_rows)),
        "degraded": draw(st.none() | st.sampled_from(names)),
    }
    if policy is not None:
        config["circuit_breaker"] = draw(policy)
    used = {
        guard
        for each in config["transitions"]
        for key in ("conditions", "unless")
        for guard in each.get(key, ())
    }
    if used and draw(st.booleans()):
        config["guards"] = {guard: draw(st.none() | any_names()) for guard in sorted(used)}
    return config


def machine_definitions(**options: Any) -> st.SearchStrategy[MachineDefinition]:
    """Machine definitions that load; the options are those of `machine_configs`."""
    return machine_configs(**options).map(load_definition)
