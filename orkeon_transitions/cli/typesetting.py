"""Markdown set for a terminal, in colors that can be read on a light ground as well as on a dark one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pygments.token import Comment, Keyword, Name, String, Token
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text
from rich.theme import Theme
from typing_extensions import override

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

WIDEST = 100
"""Longer lines are hard to follow."""

# Weight rather than color, and no ground of their own: nobody knows what stands behind them.
_WORDS = Theme(
    {
        "markdown.h1": "bold magenta",
        "markdown.h2": "bold magenta",
        "markdown.h3": "bold",
        "markdown.code": "bold",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.block_quote": "italic",
        "markdown.link": "underline",
        "markdown.link_url": "underline",
    }
)
_CODE = ANSISyntaxTheme(
    {
        Token: Style(),
        Comment: Style(italic=True, dim=True),
        Keyword: Style(color="magenta"),
        Name.Decorator: Style(color="magenta"),
        Name.Tag: Style(color="magenta"),
        String: Style(color="green"),
        String.Doc: Style(italic=True, dim=True),
    }
)


class _Heading(Heading):
    """Begins where the text begins."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Stands a little to the right, as it was written; what a program prints has a bar beside it."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        if self.lexer_name == "text":
            bar = Text("  │ ", style="dim")
            for line in Text(code).wrap(console, options.max_width - len(bar)):
                yield bar + line
        elif self.lexer_name == "console":
            told = Text(code)
            told.highlight_regex(r"(?m)^\$ .*$", "bold")
            yield Padding(told, (0, 0, 0, 2))
        else:
            yield Padding(Syntax(code, self.lexer_name, theme=_CODE, word_wrap=True), (0, 0, 0, 2))


class _Guide(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


def typeset(text: str, console: Console) -> str:
    """Sets a guide for a console.

    Args:
        text: Markdown.
        console: It says how wide, and in how many colors.

    Returns:
        The lines, with the escapes that color them.
    """
    with console.use_theme(_WORDS), console.capture() as captured:
        console.print(_Guide(text, hyperlinks=False), width=min(console.width, WIDEST))
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())
