"""Makes Graphviz' SVG fit for a web page: titles for screen readers, a size, any system's font."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from orkeon_transitions.diagrams.lettering import width_of

if TYPE_CHECKING:
    from orkeon_transitions.diagrams.picture import Arrow, Picture

_OPENING = re.compile(r"<svg\b[^>]*>")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_TITLED = re.compile(r'(<g id="([^"]*)" class="[^"]*"[^>]*>\s*)<title>[^<]*</title>')
_SIZE = re.compile(r'<svg width="(?P<width>[\d.]+)[a-z]*" height="(?P<height>[\d.]+)[a-z]*"\s*')
_GROUND = re.compile(
    r'<polygon fill="(?P<fill>#\w+)" stroke="none" '
    r'points="(?P<left>[-\d.]+),(?P<bottom>[-\d.]+) [-\d.]+,(?P<top>[-\d.]+) (?P<right>[-\d.]+),[^"]*"/>'
)
_FONT = re.compile(r'font-family="Helvetica[^"]*"')
_TEXT = re.compile(r"<text (?P<how>[^>]*)>(?P<text>[^<]*)</text>")
_FONT_SIZE = re.compile(r'font-size="([\d.]+)"')

# Pixels that the cell of a notebook shows without being scrolled; pixels for a point, at least and at most.
PAGE, LEAST, MOST = 840, 0.9, 96 / 72


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
    body = _TEXT.sub(_as_wide_as_laid_out, body)
    body = _FONT.sub('font-family="Helvetica, Arial, sans-serif"', body)
    body = _GROUND.sub(_as_a_card, body, count=1)
    body = _SIZE.sub(_in_pixels, body, count=1)
    kind = "Plan" if picture.definition is None else "State machine"
    described = ", ".join(filter(None, [f"{kind} {picture.title}", picture.caption, picture.warning]))
    return _OPENING.sub(
        lambda found: f'{found[0][:-1]} role="img">\n<title>{_escaped(described)}</title>', body, count=1
    )


def _as_wide_as_laid_out(found: re.Match[str]) -> str:
    """A text that keeps to the width for which there is room, also in another font than Helvetica."""
    how = found["how"]
    size = _FONT_SIZE.search(how)
    if size is None or 'font-family="Helvetica' not in how:
        return found[0]
    width = width_of(html.unescape(found["text"]), float(size[1]), bold='font-weight="bold"' in how)
    if not width:
        return found[0]
    return f'<text {how} textLength="{width:.2f}" lengthAdjust="spacingAndGlyphs">{found["text"]}</text>'


def _as_a_card(found: re.Match[str]) -> str:
    """The ground with round corners, which looks meant on a dark page."""
    left, top = float(found["left"]), float(found["top"])
    width, height = float(found["right"]) - left, float(found["bottom"]) - top
    place = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return f'<rect class="ground" fill="{found["fill"]}" {place} rx="9"/>'


def _in_pixels(found: re.Match[str]) -> str:
    """A point as a point where that fits the page; smaller where it does not, as long as it can be read."""
    width, height = float(found["width"]), float(found["height"])
    scale = min(MOST, max(LEAST, PAGE / width)) if width else MOST
    return f'<svg width="{width * scale:.0f}" height="{height * scale:.0f}" '


def _titles(picture: Picture) -> dict[str, str]:
    labels = {node.key: node.label for node in picture.nodes}
    titles = {}
    if picture.initial is not None:
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
    return ": ".join(filter(None, [f"{source} to {dest}", ", ".join(line.trigger for line in arrow.lines)]))


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def scenic_svg(drawn: str, picture: Picture) -> str:
    """The SVG for a page that sets its size and its colours."""
    return _SIZE.sub("<svg ", finished_svg(drawn, picture), count=1)
