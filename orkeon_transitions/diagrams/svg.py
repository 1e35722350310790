"""Makes Graphviz' SVG fit for a web page: titles for screen readers, and fonts that every system has."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.picture import Arrow, Picture

_OPENING = re.compile(r"<svg\b[^>]*>")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_TITLED = re.compile(r'(<g id="([^"]*)" class="[^"]*"[^>]*>\s*)<title>[^<]*</title>')
_SIZE = re.compile(r'<svg width="[^"]*" height="[^"]*"\s*')
_FONT = re.compile(r'font-family="Helvetica[^"]*"')


def finished_svg(drawn: str, picture: Picture) -> str:
    """The SVG as it can be put into a page.

    Args:
        drawn: What Graphviz wrote.
        picture: What it shows; gives each element its readable title.
    """
    # What stands before the element (a declaration, a document type) has no place inside of a page.
    body = _COMMENT.sub("", drawn[drawn.index("<svg") :]).replace("&#45;", "-")
    titles = _titles(picture)

    def titled(found: re.Match[str]) -> str:
        title = titles.get(html.unescape(found[2]))
        return found[1] if title is None else f"{found[1]}<title>{_escaped(title)}</title>"

    body = _TITLED.sub(titled, body)
    body = _FONT.sub('font-family="Helvetica, Arial, sans-serif"', body)
    described = ", ".join(filter(None, [f"State machine {picture.title}", picture.caption, picture.warning]))
    return _OPENING.sub(
        lambda found: f'{found[0][:-1]} role="img">\n<title>{_escaped(described)}</title>', body, count=1
    )


def _titles(picture: Picture) -> dict[str, str]:
    labels = {node.key: node.label for node in picture.nodes}
    titles = {"initial": "start", "arrow-initial": f"start to {labels[picture.initial]}"}
    for node in picture.nodes:
        words = filter(None, [node.label, node.description, *node.notes])
        titles[f"state-{node.key}"] = ": ".join(words)
    for arrow in picture.arrows:
        titles[f"arrow-{arrow.key}"] = _arrow_title(arrow, labels)
        if arrow.source is None:
            titles[f"{arrow.key}-source"] = "every state that is not final"
    return titles


def _arrow_title(arrow: Arrow, labels: dict[str, str]) -> str:
    source = "any state" if arrow.source is None else labels[arrow.source]
    dest = "itself" if arrow.dest in (None, arrow.source) else labels[arrow.dest]
    return f"{source} to {dest}: {', '.join(line.trigger for line in arrow.lines)}"


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def scenic_svg(drawn: str, picture: Picture) -> str:
    """The SVG for a page that sets its size and its colours."""
    return _SIZE.sub("<svg ", finished_svg(drawn, picture), count=1)
