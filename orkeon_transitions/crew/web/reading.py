"""The text of a page: what a reader would see, without markup.

One pass from left to right that never looks back, so that no page, however malformed, takes longer than its
length.
"""

from __future__ import annotations

import html
import re

_TAG_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_MANY_LINES = re.compile(r"\n{3,}")
# What holds no text for a reader, up to its end tag.
_SILENT = frozenset(
    {"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "textarea"}
)
_LINES = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figure"),
        *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol"),
        *("p", "pre", "section", "table", "tr", "ul"),
    }
)
_CELLS = frozenset({"td", "th"})


def decoded(body: bytes, content_type: str) -> str:
    """A body as text, by the charset that the host or the page names, else UTF-8."""
    named = re.search(r"charset\s*=\s*[\"']?([\w-]{1,40})", content_type, re.IGNORECASE)
    charset = named[1] if named else ""
    if not charset:
        within = _META_CHARSET.search(body[:4_096])
        charset = within[1].decode("ascii") if within else "utf-8"
    try:
        return body.decode(charset, errors="replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", errors="replace")


def readable(page: str) -> tuple[str, str]:
    """The title and the text of an HTML page."""
    reader = _Reader(page)
    reader.read()
    text = _BLANKS.sub(" ", html.unescape("".join(reader.text)))
    lines = "\n".join(line.strip() for line in text.splitlines())
    title = " ".join(html.unescape("".join(reader.title)).split())
    return title, _MANY_LINES.sub("\n\n", lines).strip()


class _Reader:
    def __init__(self, page: str) -> None:
        self._page = page
        self._lower = page.lower()
        if len(self._lower) != len(page):  # a few letters have a longer small one
            self._lower = page
        self.text: list[str] = []
        self.title: list[str] = []

    def read(self) -> None:
        page, at = self._page, 0
        while at < len(page):
            begin = page.find("<", at)
            if begin < 0:
                self.text.append(page[at:])
                return
            self.text.append(page[at:begin])
            at = self._after_markup(begin)

    def _after_markup(self, begin: int) -> int:
        """Where the text goes on after what begins with `<`; what never ends takes the rest with it."""
        page = self._page
        if page.startswith("<!--", begin):
            return self._after("-->", begin + 4)
        if page.startswith(("<!", "<?"), begin):
            return self._after(">", begin)
        named = _TAG_NAME.match(page, begin + 1)
        if named is None:
            self.text.append("<")
            return begin + 1
        end, name = self._end_of_tag(named.end()), named[1].lower()
        if page[begin + 1] != "/" and (name in _SILENT or name == "title"):
            close = self._lower.find(f"</{name}", end)
            if name == "title":
                self.title.append(page[end : len(page) if close < 0 else close])
            return len(page) if close < 0 else self._after(">", close)
        self.text.append("\n" if name in _LINES else " " if name in _CELLS else "")
        return end

    def _end_of_tag(self, at: int) -> int:
        """Behind the `>` that ends a tag and is not within quotes."""
        page = self._page
        while at < len(page):
            char = page[at]
            if char == ">":
                return at + 1
            at = self._after(char, at + 1) if char in "\"'" and page[at - 1] == "=" else at + 1
        return at

    def _after(self, end: str, begin: int) -> int:
        found = self._page.find(end, begin)
        return len(self._page) if found < 0 else found + len(end)
