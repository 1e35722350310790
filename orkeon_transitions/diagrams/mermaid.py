"""A picture as Mermaid's `stateDiagram-v2`: text that GitHub and many editors draw by themselves.

States get safe ids and quoted labels. Every character that Mermaid could read as its own is written as an
entity, so no name can end a label, begin a comment or name a keyword.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orkeon_transitions.diagrams.names import safe_names

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.picture import Arrow, Line, Node, Picture

_CLASSES = {
    "final": "fill:#e2e8f0,stroke:#475569,color:#1e293b,stroke-width:2px",
    "degraded": "fill:#fef3c7,stroke:#d97706,color:#1e293b,stroke-width:2px",
    "visited": "stroke:#2563eb,color:#1e293b",
    "unvisited": "fill:#fafbfc,stroke:#d5dce5,color:#94a3b8",
    "current": "fill:#dbeafe,stroke:#2563eb,color:#1e293b,stroke-width:3px",
    "anywhere": "fill:#ffffff,stroke:#64748b,color:#64748b,stroke-dasharray:4",
}
_READ_BY_MERMAID = re.compile(r"[^\w .,()\[\]×-]")
# Harmless one by one: `--`, `[[fork]]` and `direction LR` mean something wherever in a line they stand.
_READ_TOGETHER = re.compile(r"-(?=-)|\[(?=\[)|\](?=\])|n(?=\s+(?:TB|BT|RL|LR))", re.IGNORECASE)
_BLANK = "#160;"


def mermaid_text(picture: Picture) -> str:
    """The picture as a Mermaid diagram, with a line break at its end."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    # An `s_` before every id: none can be a reserved word such as `end` or `state`.
    words = safe_names((node.key for node in picture.nodes), ascii_only=True)
    ids = {key: f"s_{word}" for key, word in words.items()}
    yield "---"
    yield f"title: {json.dumps(picture.title, ensure_ascii=False)}"
    yield "---"
    yield "stateDiagram-v2"
    yield f"    direction {picture.direction}"
    for node in picture.nodes:
        yield f'    state "{_node_label(node)}" as {ids[node.key]}'
    if picture.initial is not None:
        yield f"    [*] --> {ids[picture.initial]}"
    for number, arrow in enumerate(picture.arrows):
        yield from _arrow_lines(arrow, f"any_{number}", ids)
    for node in picture.nodes:
        if node.final:
            yield f"    {ids[node.key]} --> [*]"
    for note in filter(None, [picture.caption, picture.warning]):
        yield f"    %% {_escaped(note)}"
    for name, style in _CLASSES.items():
        yield f"    classDef {name} {style}"
    for node in picture.nodes:
        for name in ("final", "degraded", "visited", "unvisited", "current"):
            if node.visits if name == "visited" else getattr(node, name):
                yield f"    class {ids[node.key]} {name}"


def _arrow_lines(arrow: Arrow, anywhere: str, ids: dict[str, str]) -> Iterator[str]:
    """One line for each row, so that each keeps its own words."""
    source = anywhere if arrow.source is None else ids[arrow.source]
    dest = source if arrow.dest is None else ids[arrow.dest]
    if arrow.source is None:
        yield f'    state "any state" as {anywhere}'
        yield f"    class {anywhere} anywhere"
    if not arrow.lines:
        yield f"    {source} --> {dest}"
    for line in arrow.lines:
        yield f"    {source} --> {dest} : {_line_words(line)}"


def _node_label(node: Node) -> str:
    words = [node.label + (f" ×{node.visits}" if node.visits else ""), *node.notes]
    return "<br/>".join(map(_escaped, words))


def _line_words(line: Line) -> str:
    words = line.trigger + (f" ×{line.times}" if line.times else "")
    if line.guards:
        words += f" [{' and '.join(line.guards)}]"
    if line.notes:
        words += f" ({', '.join(line.notes)})"
    return _escaped(words)


def _escaped(text: str) -> str:
    """The text with Mermaid's own characters as entities, line breaks as its breaks."""
    lines = (_READ_TOGETHER.sub(_entity, _READ_BY_MERMAID.sub(_entity, line)) for line in text.split("\n"))
    return "<br/>".join(line if line.strip() else _BLANK for line in lines)


def _entity(found: re.Match[str]) -> str:
    return f"#{ord(found[0])};"
