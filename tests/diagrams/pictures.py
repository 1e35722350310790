"""What the tests of this room share: machines to draw, steps, and ways to read a drawn picture."""

import re
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from orkeon_transitions.definition import MachineDefinition, load_definition

SVG = "{http://www.w3.org/2000/svg}"
PNG_BEGINS = b"\x89PNG\r\n\x1a\n"

TICKET = """
name: ticket
initial: open
degraded: parked
states:
  - {name: open, description: Somebody wrote to us}
  - {name: waiting, timeout: 30, on_timeout: remind}
  - {name: asked, timeout: 120}
  - {name: closed, final: true}
  - {name: parked, final: true}
transitions:
  - {trigger: ask, source: open, dest: waiting, conditions: has_question, unless: is_spam}
  - {trigger: ask, source: waiting, dest: asked}
  - {trigger: remind, source: waiting, dest: "="}
  - {trigger: note, source: [open, asked], dest: null}
  - {trigger: answer, source: [waiting, asked], dest: open}
  - {trigger: close, source: "*", dest: closed, always: true}
"""


def ticket() -> MachineDefinition:
    """A machine with a row of every kind."""
    return load_definition(TICKET)


@dataclass
class Step:
    """One step of a trace, as a replay gives it."""

    from_state: Any
    trigger: Any
    to_state: Any


@dataclass
class Result(Step):
    """One step of a trace, as a machine gives it."""

    accepted: bool = True
    degraded: bool = False
    internal: bool = False


def steps(*words: str) -> list[Step]:
    """Steps from words such as `open ask waiting`."""
    return [Step(*word.split()) for word in words]


class Drawn:
    """An SVG picture, read back."""

    def __init__(self, text: str) -> None:
        self.root = ElementTree.fromstring(text)
        self.groups = {group.get("id"): group for group in self.root.iter(f"{SVG}g")}

    @property
    def ids(self) -> set[str]:
        return set(self.groups)

    def classes(self, name: str) -> set[str]:
        return set(self.groups[name].get("class", "").split())

    def title(self, name: str) -> str:
        return self.groups[name].findtext(f"{SVG}title") or ""

    def words(self, name: str) -> list[str]:
        """The texts of an element; blanks that only keep others apart are left out."""
        texts = (
            re.sub(r"\s+", " ", text.text or "").strip() for text in self.groups[name].iter(f"{SVG}text")
        )
        return [text for text in texts if text]

    def line(self, name: str) -> str:
        return " ".join(self.words(name))

    def outlines(self, name: str) -> int:
        return sum(1 for _ in self.groups[name].iter(f"{SVG}path"))
