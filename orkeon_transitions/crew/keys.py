"""The keys that crew files have: those we act on, those we carry, and those whose time has not come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PROCESSES = ("sequential",)
LATER_PROCESSES = ("hierarchical", "parallel", "consensual", "graph", "autonomous")


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one kind of block, in snake_case.

    Attributes:
        known: Acted on.
        later: Refused by name when they are set to anything but null, false or nothing.
        carried: Accepted with a note; they have no effect.
        aliases: Other names of known keys.
    """

    known: frozenset[str]
    later: frozenset[str]
    carried: frozenset[str]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_names(self) -> frozenset[str]:
        """Every key that may be meant."""
        return self.known | self.later | self.carried | frozenset(self.aliases)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CREW = KeyTable(
    known=_names("name goal process circuit_breaker mounts llm agents tasks"),
    later=_names(
        """graph_config manager_agent manager_llm planning planning_llm memory memory_config human_input
        guardrails guardrail mcp_servers mcp consensus consensus_config execution_budget autonomous_config
        response_schema knowledge knowledge_sources embedder max_concurrency parallel_config include"""
    ),
    carried=_names(
        """verbose description version language author tags metadata cache max_rpm share_crew
        full_output output_log_file prompt_file id"""
    ),
)

AGENT = KeyTable(
    known=_names("role goal backstory tools llm"),
    later=_names(
        """llm_override mcp_servers mcp guardrails guardrail memory memory_config knowledge knowledge_sources
        human_input response_schema planning reasoning multimodal allow_code_execution function_calling_llm
        execution_budget embedder"""
    ),
    carried=_names(
        """verbose description max_iter max_iterations max_rpm max_execution_time max_retry_limit
        allow_delegation cache temperature top_p max_tokens system_template prompt_template
        response_template respect_context_window use_system_prompt inject_date date_format name id tags
        metadata"""
    ),
)

TASK = KeyTable(
    known=_names("description expected_output agent dependencies tools deliverable circuit_breaker"),
    later=_names(
        """human_input guardrails guardrail guardrail_max_retries response_schema output_schema output_json
        output_pydantic output_file async_execution condition mcp_servers mcp llm llm_override memory planning
        execution_budget consensus callback"""
    ),
    carried=_names("verbose name id priority tags metadata cache max_iter markdown create_directory"),
    # CrewAI's word for the tasks whose outputs are needed.
    aliases={"context": "dependencies"},
)
