"""How a picture looks in Graphviz: colours, sizes and labels, as attributes for nodes and arrows.

Labels are Graphviz' HTML-like ones. They are made here and nowhere else, so that every text is escaped.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from orkeon_transitions.diagrams.picture import ArrowKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orkeon_transitions.diagrams.picture import Arrow, Line, Node, Picture

FONT = "Helvetica"  # the one name that both Graphviz and graphviz-pure know; a list of names is none
INK, SOFT, FAINT = "#1e293b", "#64748b", "#a3aebd"
CARD, STATE, STATE_LINE, ARROW = "#ffffff", "#f1f5f9", "#94a3b8", "#94a3b8"
FINAL, FINAL_LINE = "#e2e8f0", "#475569"
AMBER, AMBER_LINE, AMBER_INK = "#fef3c7", "#d97706", "#b45309"
BLUE, BLUE_LINE, BLUE_INK = "#dbeafe", "#2563eb", "#1d4ed8"
RED_LINE, RED_INK = "#dc2626", "#b91c1c"
UNVISITED, UNVISITED_LINE = "#fafbfc", "#d5dce5"

LONGEST_LINE = 34
MOST_LINES = 5

GRAPH = {
    "bgcolor": CARD,
    "fontname": FONT,
    "fontsize": "17",
    "labeljust": "l",
    "labelloc": "t",
    "nodesep": "0.4",
    "pad": "0.3",
    "ranksep": "0.5",
}
NODE = {
    "color": STATE_LINE,
    "fillcolor": STATE,
    "fontcolor": INK,
    "fontname": FONT,
    "fontsize": "13",
    "height": "0.42",
    "margin": "0.18,0.09",
    "penwidth": "1.2",
    "shape": "box",
    "style": "rounded,filled",
}
EDGE = {
    "arrowsize": "0.75",
    "color": ARROW,
    "fontcolor": INK,
    "fontname": FONT,
    "fontsize": "11",
    "penwidth": "1.2",
}
INITIAL = {
    "class": "initial",
    "color": INK,
    "fillcolor": INK,
    "fixedsize": "true",
    "height": "0.17",
    "id": "initial",
    "label": "",
    "shape": "circle",
    "style": "filled",
    "width": "0.17",
}
INITIAL_ARROW = {"arrowsize": "0.7", "class": "initial", "color": INK, "id": "arrow-initial"}


def direction(picture: Picture) -> str:
    """Left to right for a few states, top to bottom for more: what fits the width of a page."""
    return "LR" if len(picture.nodes) <= 4 else "TB"


def title_label(picture: Picture) -> str:
    """The machine's name, and what the run says."""
    parts = [f"<B>{_text(picture.title, INK, wrap=60)}</B>"]
    if picture.caption:
        parts.append(_font(_text(picture.caption, SOFT, wrap=90), 12))
    if picture.warning:
        parts.append(_font(_text(picture.warning, AMBER_INK, wrap=90), 12))
    return _table(parts, align="LEFT", padding=2)


def node_attributes(node: Node) -> dict[str, str]:
    """How a state is drawn."""
    classes = ["state"]
    classes += [name for name in ("initial", "final", "degraded", "current", "unvisited") if getattr(node, name, False)]
    attributes = {"id": f"state-{node.key}", "tooltip": _tooltip(node), "label": _node_label(node)}
    if node.visits:
        classes.append("visited")
        attributes |= {"color": BLUE_LINE}
    if node.final:
        attributes |= {"peripheries": "2", "fillcolor": FINAL, "color": FINAL_LINE}
    if node.degraded:
        attributes |= {"fillcolor": AMBER, "color": AMBER_LINE}
    if node.unvisited:
        attributes |= {"color": UNVISITED_LINE}
        if not node.degraded:
            attributes |= {"fillcolor": UNVISITED}
    if not node.known:
        attributes |= {"color": RED_LINE, "style": "rounded,dashed"}
    if node.current:
        attributes |= {"penwidth": "3"}
        if not node.degraded:
            attributes |= {"fillcolor": BLUE, "color": BLUE_LINE}
    return attributes | {"class": " ".join(classes)}


def anywhere_attributes(arrow: Arrow) -> dict[str, str]:
    """How the source of an arrow is drawn that stands for every state."""
    colour = FAINT if arrow.unvisited else SOFT
    return {
        "class": "anywhere",
        "id": f"{arrow.key}-source",
        "color": colour,
        "fillcolor": CARD,
        "height": "0.26",
        "label": f"<{_text('any state', colour)}>",
        "fontsize": "10.5",
        "margin": "0.09,0.03",
        "penwidth": "1",
        "style": "rounded,filled,dashed",
        "tooltip": "every state that is not final",
    }


def arrow_attributes(arrow: Arrow) -> dict[str, str]:
    """How an arrow is drawn."""
    classes = ["arrow", arrow.kind.value]
    attributes = {
        "id": f"arrow-{arrow.key}",
        "label": _table([_line_label(line, arrow) for line in arrow.lines], align="LEFT", padding=3),
        "tooltip": "; ".join(line.trigger for line in arrow.lines).replace("\n", " "),
    }
    if arrow.internal or arrow.kind is ArrowKind.ANYWHERE:
        attributes |= {"style": "dashed"}
    if arrow.kind is ArrowKind.BREAKER:
        attributes |= {"style": "dashed", "color": AMBER_LINE}
    if arrow.kind is ArrowKind.STRAY:
        attributes |= {"style": "dashed", "color": RED_LINE}
    if arrow.unvisited:
        classes.append("unvisited")
        attributes |= {"color": UNVISITED_LINE}
    if arrow.times:
        classes.append("taken")
        attributes |= {"penwidth": "2"}
        if arrow.kind is ArrowKind.ROW:
            attributes |= {"color": BLUE_LINE}
    if arrow.last:
        classes.append("last")
        attributes |= {"penwidth": "3.2"}
    return attributes | {"class": " ".join(classes)}


def _node_label(node: Node) -> str:
    colour = FAINT if node.unvisited else RED_INK if not node.known else INK
    name = _text(node.label, colour)
    if node.current:
        name = f"<B>{name}</B>"
    if node.visits:
        name += "&#160;" + _font(f"<B>&#215;{node.visits}</B>", 10, AMBER_INK if node.degraded else BLUE_INK)
    notes = [_font(_text(note, FAINT if node.unvisited else SOFT), 9.5) for note in node.notes]
    return "<" + "<BR/>".join([name, *notes]) + ">"


def _line_label(line: Line, arrow: Arrow) -> str:
    faint = arrow.unvisited or (line.times == 0 and arrow.times > 0)
    colour = {ArrowKind.BREAKER: AMBER_INK, ArrowKind.STRAY: RED_INK}.get(arrow.kind, INK)
    if line.times and arrow.kind is ArrowKind.ROW:
        colour = BLUE_INK
    words = _text(line.trigger, FAINT if faint else colour)
    if line.last:
        words = f"<B>{words}</B>"
    if line.times:
        words += "&#160;" + _font(f"<B>&#215;{line.times}</B>", 9.5, colour)
    small = SOFT if not faint else FAINT
    if line.notes:
        words += "&#160; " + _font(f"<I>{_text(', '.join(line.notes), small)}</I>", 9)
    if line.guards:
        words += '<BR ALIGN="LEFT"/>' + _font(_text(f"[{' and '.join(line.guards)}]", small), 9) + '<BR ALIGN="LEFT"/>'
    return words


def _tooltip(node: Node) -> str:
    return html.escape(f"{node.label}: {node.description}" if node.description else node.label)


def _text(text: str, colour: str, *, wrap: int = LONGEST_LINE) -> str:
    """A text as it may stand in an HTML-like label, in lines that are not too long."""
    lines = [piece for line in text.split("\n") for piece in _wrapped(line, wrap)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + "…"]
    return _font("<BR/>".join(map(_escaped, lines)), None, colour)


def _wrapped(line: str, width: int) -> list[str]:
    """Pieces of at most `width` characters, cut where words end if that is not far."""
    pieces = []
    while len(line) > width:
        cuts = [found.end() for found in re.finditer(r"[\s_.:/-]+", line[: width + 1]) if width // 2 < found.end() <= width]
        cut = cuts[-1] if cuts else width
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line]


def _escaped(text: str) -> str:
    # Graphviz reads backslashes in labels as escapes of its own, so they are written as a character reference.
    return html.escape(text).replace("\\", "&#92;") or " "


def _font(content: str, size: float | None, colour: str | None = None) -> str:
    attributes = "" if colour is None else f' COLOR="{colour}"'
    attributes += "" if size is None else f' POINT-SIZE="{size:g}"'
    return f"<FONT{attributes}>{content}</FONT>"


def _table(rows: Iterable[str], *, align: str, padding: int) -> str:
    """Lines below each other, with air around them so that no arrow touches the words."""
    cells = "".join(f'<TR><TD ALIGN="{align}" BALIGN="{align}">{row}</TD></TR>' for row in rows)
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="{padding}">{cells}</TABLE>>'
