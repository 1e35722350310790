"""How a picture looks in Graphviz: colours, sizes and labels, as attributes for nodes and arrows.

Labels are Graphviz' HTML-like ones. They are made here and nowhere else, so that every text is escaped.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from orkeon_transitions.diagrams.picture import ArrowKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orkeon_transitions.diagrams.picture import Arrow, Line, Node, Picture

FONT = "Helvetica"  # the one name that both Graphviz and graphviz-pure know; a list of names is none
INK, SOFT, FAINT = "#1e293b", "#64748b", "#a3aebd"
CARD, STATE, STATE_LINE, ARROW = "#ffffff", "#f1f5f9", "#94a3b8", "#94a3b8"
FINAL, FINAL_LINE = "#e2e8f0", "#475569"
AMBER, AMBER_LINE, AMBER_INK = "#fef3c7", "#d97706", "#b45309"
BLUE, BLUE_LINE, BLUE_INK = "#dbeafe", "#2563eb", "#1d4ed8"
RED_LINE, RED_INK = "#dc2626", "#b91c1c"
UNVISITED, UNVISITED_LINE = "#fafbfc", "#d5dce5"

GAP = ""
WORDS = {ArrowKind.BREAKER: AMBER_INK, ArrowKind.STRAY: RED_INK}
LONGEST_LINE = 34
MOST_LINES = 5
_WORD_END = re.compile(r"[\s_.:/-]+")

GRAPH = {
    "bgcolor": CARD,
    "fontname": FONT,
    "fontsize": "17",
    "labeljust": "l",
    "labelloc": "t",
    "nodesep": "0.24",
    "pad": "0.22",
    "ranksep": "0.45",
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
STYLE: dict[str, str | dict[str, str | dict[str, Any]]] = {
    "node": {"default": NODE},
    "edge": {"default": EDGE},
    "graph": {},
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


def graph_attributes(picture: Picture) -> dict[str, str]:
    """How the whole is laid out."""
    around = (
        {"bgcolor": "transparent", "label": "", "pad": "0.1"}
        if picture.bare
        else {"label": title_label(picture)}
    )
    return {"rankdir": picture.direction, **picture.effort.attributes, **around}


def title_label(picture: Picture) -> str:
    """The machine's name, and what the run says."""
    parts = [f"<B>{_text(picture.title, INK, wrap=60)}</B>", GAP]
    if picture.caption:
        parts.append(_font(_text(picture.caption, SOFT, wrap=90), 12))
    if picture.warning:
        parts.append(_font(_text(picture.warning, AMBER_INK, wrap=90), 12))
    return _table(parts)


def node_attributes(node: Node, picture: Picture) -> dict[str, str]:
    """How a state is drawn."""
    classes = [name for name in ("final", "degraded", "current", "unvisited") if getattr(node, name)]
    attributes = {"id": f"state-{node.key}", "label": _node_label(node)}
    attributes |= _room_for_arrows(node, picture)
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
        attributes |= {"penwidth": "2.2" if node.final else "3"}
        if not node.degraded:
            attributes |= {"fillcolor": BLUE, "color": BLUE_LINE}
    return attributes | {"class": " ".join(["state", *classes])}


def anywhere_attributes(arrow: Arrow) -> dict[str, str]:
    """How the source of an arrow is drawn that stands for every state."""
    colour = FAINT if arrow.unvisited else SOFT
    return {
        "class": "anywhere",
        "id": f"{arrow.key}-source",
        "color": UNVISITED_LINE if arrow.unvisited else colour,
        "fillcolor": CARD,
        "height": "0.26",
        "label": f"<{_text('any state', colour)}>",
        "fontsize": "10.5",
        "margin": "0.09,0.03",
        "penwidth": "1",
        "style": "rounded,filled,dashed",
    }


def arrow_attributes(arrow: Arrow, picture: Picture) -> dict[str, str]:
    """How an arrow is drawn."""
    classes = ["arrow", arrow.kind.value]
    attributes = {"id": f"arrow-{arrow.key}"}
    if arrow.lines and not picture.effort.wordless:
        attributes |= {"label": _arrow_label(arrow)}
    if arrow.internal or arrow.kind in (ArrowKind.ANYWHERE, ArrowKind.ORDER):
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


def _room_for_arrows(node: Node, picture: Picture) -> dict[str, str]:
    """A state where many arrows meet is drawn wider, so that they end beside each other, not in one point."""
    between = (arrow for arrow in picture.arrows if arrow.source != arrow.dest)
    ends = sum(node.key in (arrow.source, arrow.dest) for arrow in between)
    side = "width" if picture.direction == "TB" else "height"
    return {side: f"{min(0.3 * ends, 4.5):g}"} if ends > 4 else {}


def _node_label(node: Node) -> str:
    colour = FAINT if node.unvisited else RED_INK if not node.known else INK
    name = _text(node.label, colour)
    if node.current:
        name = f"<B>{name}</B>"
    if node.visits:
        name += " " + _font(f"<B>&#215;{node.visits}</B>", 10, AMBER_INK if node.degraded else BLUE_INK)
    notes = [_font(_text(note, FAINT if node.unvisited else SOFT), 9.5) for note in node.notes]
    return "<" + "<BR/>".join([name, *notes]) + ">"


def _arrow_label(arrow: Arrow) -> str:
    """Each row's trigger, its guards below it, and a gap before the next."""
    parts: list[str] = []
    for line in arrow.lines:
        if parts:
            parts.append(GAP)
        faint = arrow.unvisited or (arrow.times > 0 and line.times == 0)
        parts.append(_trigger_words(line, arrow.kind, faint=faint))
        if line.guards:
            parts.append(_font(_text(f"[{' and '.join(line.guards)}]", FAINT if faint else SOFT), 9.5))
    return _table(parts)


def _trigger_words(line: Line, kind: ArrowKind, *, faint: bool) -> str:
    colour = WORDS.get(kind, BLUE_INK if line.times else INK)
    words = _text(line.trigger, FAINT if faint else colour)
    if line.last:
        words = f"<B>{words}</B>"
    if line.times:
        words += " " + _font(f"<B>&#215;{line.times}</B>", 9.5, colour)
    if line.notes:
        words += "  " + _font(f"<I>{_text(', '.join(line.notes), FAINT if faint else SOFT)}</I>", 9.5)
    return words


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
        ends = [found.end() for found in _WORD_END.finditer(line[:width])]
        cut = ends[-1] if ends and ends[-1] > width // 2 else width
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line]


def _escaped(text: str) -> str:
    # Graphviz replaces `\\N` and the like, as character references too; a doubled backslash is drawn as one.
    return html.escape(text).replace("\\", "\\\\") or " "


def _font(content: str, size: float | None, colour: str | None = None) -> str:
    attributes = "" if colour is None else f' COLOR="{colour}"'
    attributes += "" if size is None else f' POINT-SIZE="{size:g}"'
    return f"<FONT{attributes}>{content}</FONT>"


def _table(rows: Iterable[str]) -> str:
    """Lines close below each other, with air around them all, so that no arrow touches the words."""
    gap, cell = '<TD HEIGHT="4"></TD>', '<TD ALIGN="LEFT" BALIGN="LEFT">{}</TD>'
    cells = "".join(f"<TR>{gap if row == GAP else cell.format(row)}</TR>" for row in rows)
    table = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="{}">{}</TABLE>'
    return f"<{table.format(4, f'<TR><TD>{table.format(0, cells)}</TD></TR>')}>"
