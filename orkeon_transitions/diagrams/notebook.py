"""Machines that show themselves in Jupyter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from orkeon_transitions.diagrams.render import to_mermaid, to_svg
from orkeon_transitions.errors import OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.run import TraceStep


def mimebundle(
    subject: Any, *, trace: Iterable[TraceStep] | None = None, text: str | None = None
) -> dict[str, str]:
    """What Jupyter shows for a machine: a picture, or Mermaid text where Graphviz is missing or fails.

    Jupyter draws a Markdown text's Mermaid itself. A terminal shows the plain text, the machine's repr.

    Args:
        subject: What `render` takes.
        trace: What the run did, as for `render`.
        text: The plain text, if it is not the subject's repr.
    """
    trace = None if trace is None else list(trace)
    try:
        picture = {"image/svg+xml": to_svg(subject, trace=trace)}
    except OrkeonError:
        picture = {"text/markdown": f"```mermaid\n{to_mermaid(subject, trace=trace)}\n```\n"}
    return {**picture, "text/plain": repr(subject) if text is None else text}
