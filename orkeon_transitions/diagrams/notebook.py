"""Machines that show themselves in Jupyter."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.diagrams.render import to_mermaid, to_svg
from orkeon_transitions.errors import OrkeonError


def mimebundle(subject: Any) -> dict[str, str]:
    """What Jupyter shows for a machine: a picture, or Mermaid text where Graphviz is missing or fails.

    Args:
        subject: A `MachineDefinition`, or anything with a `.definition` and, if it runs, a `.snapshot()`.
    """
    try:
        return {"image/svg+xml": to_svg(subject), "text/plain": f"<{type(subject).__name__}>"}
    except OrkeonError:
        return {"text/plain": to_mermaid(subject)}
