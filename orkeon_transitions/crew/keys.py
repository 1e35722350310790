"""The keys that crew files have: those we act on, those we carry, and those whose time has not come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.definition.fields import read_count, read_flag
from orkeon_transitions.definition.places import Path, Source

PROCESSES = ("sequential", "parallel", "graph", "hierarchical", "consensual", "autonomous")


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one kind of block, in snake_case.

    Attributes:
        known: Acted on.
        later: Refused by name when they are set to anything but null, false or nothing.
        carried: Kept as they are, with a note; they have no effect.
    """

    known: frozenset[str]
    later: frozenset[str]
    carried: frozenset[str]

    @property
    def all_names(self) -> frozenset[str]:
        """Every key that may be meant."""
        return self.known | self.later | self.carried


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CREW = KeyTable(
    known=_names(
        """name goal process circuit_breaker graph_config consensus consensus_config manager_agent mounts
        execution_budget anchors llm agents tasks mcp_servers web planning human_input guardrails guardrail
        max_rpm max_concurrency parallel_config"""
    ),
    later=_names(
        """manager_llm planning_llm mcp autonomous_config response_schema knowledge
        knowledge_sources embedder include"""
    ),
    carried=_names(
        """verbose memory memory_provider memory_config links rag settings description version
        language author tags metadata cache share_crew full_output output_log_file prompt_file id"""
    ),
)

AGENT = KeyTable(
    known=_names(
        """role goal backstory tools llm temperature top_p max_tokens response_format thinking planning
        reasoning guardrails guardrail max_iter max_iterations max_rpm"""
    ),
    later=_names(
        """llm_override mcp_servers mcp knowledge_sources human_input response_schema
        multimodal allow_code_execution function_calling_llm execution_budget embedder"""
    ),
    carried=_names(
        """verbose knowledge memory memory_config description
        max_execution_time max_retry_limit allow_delegation cache
        system_template prompt_template response_template respect_context_window use_system_prompt
        inject_date date_format name id tags metadata max_reasoning_attempts code_execution_mode
        security_config from_repository"""
    ),
)

TASK = KeyTable(
    # `context` is another word for the tasks whose outputs are needed.
    known=_names(
        """description expected_output agent dependencies context tools deliverable circuit_breaker
        execution_budget llm_override output_file async_execution planning human_input guardrails guardrail
        guardrail_max_retries response_schema output_schema schema_inline output_json output_pydantic
        response_model markdown"""
    ),
    later=_names("""converter_cls condition mcp_servers mcp llm memory consensus callback"""),
    carried=_names(
        """verbose name id priority tags metadata cache max_iter create_directory max_retries
        security_config allow_crewai_trigger_context"""
    ),
)


def says_something(value: Any) -> bool:
    """Whether a key that has no effect is worth a note: switched off, it is as good as absent."""
    return value is not None and value is not False and value not in ("", [], {})


def _read_verbose(source: Source, value: Any, path: Path) -> Any:
    """Some files say how much, others only that."""
    is_level = isinstance(value, int) and not isinstance(value, bool)
    return read_count(source, value, path) if is_level else read_flag(source, value, path)


KINDS: Mapping[str, Callable[[Source, Any, Path], Any]] = {
    "verbose": _read_verbose,
    "allow_delegation": read_flag,
    "max_iter": read_count,
}
"""What a carried key must hold all the same, so that a slip is found before the key has an effect."""
