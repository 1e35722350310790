"""How wide a text is in Helvetica, by which Graphviz lays everything out.

The figures are those of Adobe's font metrics, in thousandths of the font's size, for the characters from the
space to the tilde; a slanted letter is as wide as an upright one.
"""

from __future__ import annotations

_REGULAR = """
    278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278
    556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
    1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778
    667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
    333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556
    556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
_BOLD = """
    278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278
    556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611
    975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778
    667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556
    333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611
    611 611 389 556 333 611 556 778 556 556 500 389 280 389 584
"""
_OTHERS = {"\N{NO-BREAK SPACE}": 278, "\N{MULTIPLICATION SIGN}": 584}


def _widths(figures: str) -> dict[str, int]:
    return {chr(number): int(width) for number, width in enumerate(figures.split(), start=32)} | _OTHERS


_WIDTHS = {False: _widths(_REGULAR), True: _widths(_BOLD)}


def width_of(text: str, size: float, *, bold: bool) -> float | None:
    """The width of a text in the unit of its size; None where it has a letter that is not known here."""
    widths = _WIDTHS[bold]
    try:
        return sum(widths[letter] for letter in text) * size / 1000
    except KeyError:
        return None
