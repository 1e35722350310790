"""Short guides in Markdown, and the JSON Schemas of our files; `orkeon docs` shows them.

What belongs here: what somebody who uses the package wants to do, in words that are read in less than five
minutes and snippets that run as they stand (`tests/test_docs.py` runs each of them). `yaml-keys.md` and
`schemas/` are written by `python -m tests.make_docs` from the schemas that the rooms declare, never by hand.
What never belongs here: an import of another room, a promise that no test keeps, the law of a room, which
stands in that room's own docstring.
"""

from __future__ import annotations

from importlib.resources import files

TOPICS = ("machine-files", "guards", "breaker", "crews", "persistence", "migration", "yaml-keys")
"""The guides, in the order in which a newcomer reads them."""


def guide(topic: str) -> str:
    """The Markdown of a guide.

    Args:
        topic: One of `TOPICS`.

    Raises:
        KeyError: There is no such guide.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    return (files(__package__) / f"{topic}.md").read_text(encoding="utf-8")


def summary(topic: str) -> str:
    """What a guide is about, in the sentence with which it begins."""
    _, paragraph, *_ = guide(topic).split("\n\n")
    return " ".join(paragraph.split())
