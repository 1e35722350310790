"""Makes Graphviz' SVG fit for a web page: titles that a screen reader can read, and fonts that every system has."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.picture import Arrow, Picture

_OPENING = re.compile(r"<svg\b[^>]*>")
_TITLED = re.compile(r'(<g id="([^"]*)" class="[^"]*">\s*)<title>[^<]*</title>')
_FONT = re.compile(r'font-family="Helvetica[^"]*"')


def finished_svg(drawn: str, picture: Picture) -> str:
    """The SVG as it can be put into a page.

    Args:
        drawn: What Graphviz wrote.
        picture: What it shows; gives each element its readable title.
    """
    body = drawn[_OPENING.search(drawn).start() :]
    titles = _titles(picture)

    def titled(found: re.Match[str]) -> str:
        title = titles.get(html.unescape(found[2]))
        return found[1] if title is None else f"{found[1]}<title>{html.escape(title, quote=False)}</title>"

    body = _TITLED.sub(titled, body)
    body = _FONT.sub('font-family="Helvetica, Arial, sans-serif"', body)
    described = html.escape(" ".join(filter(None, [f"State machine {picture.title}", picture.caption])))
    return _OPENING.sub(lambda found: f'{found[0][:-1]} role="img" aria-label="{described}">', body, count=1)


def _titles(picture: Picture) -> dict[str, str]:
    labels = {node.key: node.label for node in picture.nodes}
    titles = {f"state-{node.key}": f"{node.label}: {node.description}" if node.description else node.label for node in picture.nodes}
    for arrow in picture.arrows:
        titles[f"arrow-{arrow.key}"] = _arrow_title(arrow, labels)
        if arrow.source is None:
            titles[f"{arrow.key}-source"] = "every state that is not final"
    return titles


def _arrow_title(arrow: Arrow, labels: dict[str, str]) -> str:
    source = "any state" if arrow.source is None else labels[arrow.source]
    dest = "itself" if arrow.dest in (None, arrow.source) else labels[arrow.dest]
    return f"{source} to {dest}: {', '.join(line.trigger for line in arrow.lines)}"
