"""Machines that show themselves in Jupyter."""

from __future__ import annotations

from typing import Any

from orkeon_transitions.diagrams.render import to_mermaid, to_svg
from orkeon_transitions.errors import OrkeonError


def mimebundle(subject: Any) -> dict[str, str]:
    """What Jupyter shows for a machine: a picture, or Mermaid text where Graphviz is missing or fails.

    Jupyter draws a Markdown text's Mermaid itself. A terminal shows the plain text, the machine's repr.

    Args:
        subject: A `MachineDefinition`, or anything with a `.definition` and, if it runs, a `.snapshot()`.
    """
    try:
        picture = {"image/svg+xml": to_svg(subject)}
    except OrkeonError:
        picture = {"text/markdown": f"```mermaid\n{to_mermaid(subject)}\n```\n"}
    return {**picture, "text/plain": repr(subject)}
