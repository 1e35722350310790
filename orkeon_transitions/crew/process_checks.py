"""What a process asks of a crew: who leads it, how many there must be to do it."""

from __future__ import annotations

from collections.abc import Callable

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.consensus_block import ALIASES, ConsensusBlock
from orkeon_transitions.crew.voting import VotingRule
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.places import Path, Source

BLOCKS = ("consensus", "consensus_config")
MOST_TIED = 2

Warn = Callable[[Path, str, str], None]


def check_process(config: CrewConfig, source: Source, warn: Warn) -> None:
    """Checks that a crew has whom its process needs.

    Args:
        config: What was read.
        source: Where problems go.
        warn: Told what is probably a mistake.
    """
    if config.process == "hierarchical":
        _check_hierarchical(config, source, warn)
    if config.process == "consensual":
        _check_consensual(config, config.consensus or ConsensusBlock(), source, warn)


def _check_hierarchical(config: CrewConfig, source: Source, warn: Warn) -> None:
    manager = config.manager_agent
    if manager is None:
        source.problem(_at(source, "process"), "process 'hierarchical' needs a 'managerAgent'")
        return
    if set(config.agents) == {manager}:
        message = f"'{manager}' leads and does no task: there must be another agent"
        source.problem(_at(source, "manager_agent"), message)
    for task in config.tasks.values():
        if task.agent == manager:
            words = f"'{manager}' leads and does no task: it will assign this one to another agent"
            warn(("tasks", task.id, "agent"), "manager-task", words)


def _check_consensual(config: CrewConfig, settings: ConsensusBlock, source: Source, warn: Warn) -> None:
    manager = config.manager_agent if settings.is_led else None
    at = _block(source)
    if settings.is_led and manager is None:
        source.problem(_in(source, at, "fallback"), "the fallback 'manager' needs a 'managerAgent'")
    voters = [agent for agent in config.agents if agent != manager]
    if len(voters) < MOST_TIED:
        message = "process 'consensual' needs two agents at least, the manager left out"
        source.problem(_at(source, "process"), message)
    elif len(voters) == MOST_TIED and settings.rule is not VotingRule.WEIGHTED:
        words = "two agents that both answer can only vote for each other, which is a tie: take three"
        warn(_at(source, "process"), "always-tied", words)
    for name in settings.weights:
        if name not in voters:
            message = f"no agent '{name}' votes"
            source.problem((*_in(source, at, "weights"), name), message, source.hint(name, voters))
    if isinstance(settings.quorum, int) and settings.quorum > len(voters):
        message = f"only {len(voters)} agents vote, {settings.quorum} ballots are never there"
        source.problem(_in(source, at, "quorum"), message)
    for key, rule in (("weights", VotingRule.WEIGHTED), ("threshold", VotingRule.SUPER_MAJORITY)):
        if getattr(settings, key) and settings.rule is not rule:
            words = f"'{key}' has no effect with the rule '{settings.rule}', only with '{rule}'"
            warn(_in(source, at, key), "no-effect", words)
    if named := next((task.id for task in config.tasks.values() if task.agent), None):
        words = "every agent does each task here: whom a task names has no effect"
        source.note(("tasks", named, "agent"), "no-effect", words)


def _block(source: Source) -> Path:
    """Where the `consensus` block is."""
    return next((path for key in BLOCKS if (path := _at(source, key)) in source.places), (BLOCKS[0],))


def _in(source: Source, block: Path, key: str) -> Path:
    """Where a key of a block is, in whichever spelling."""
    spellings = [key, camel_case(key), *(name for name, meant in ALIASES.items() if meant == key)]
    return next(((*block, name) for name in spellings if (*block, name) in source.places), block)


def _at(source: Source, key: str) -> Path:
    """Where a key of the crew is written, in whichever spelling."""
    return next(((name,) for name in (key, camel_case(key)) if (name,) in source.places), (key,))
