"""Boxes with arrows between them, drawn as machines are: the tasks of a crew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orkeon_transitions.diagrams.names import distinct, printable, safe_names
from orkeon_transitions.diagrams.picture import Arrow, ArrowKind, Line, Node, Picture
from orkeon_transitions.diagrams.scene import Scene, SceneArrow, checked_prefix, laid_out_scene


@dataclass(frozen=True, slots=True)
class PlanBox:
    """A box.

    Attributes:
        key: Its name, by which arrows call it.
        detail: A line in small type below the name, such as who does it.
        description: For a tooltip.
    """

    key: str
    detail: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class PlanArrow:
    """An arrow between two boxes.

    Attributes:
        source: The key of the box that it leaves.
        dest: The key of the box at which it ends.
        words: What is written on it.
        order: Whether it only says what comes first, and nothing is handed on; it is dashed then.
    """

    source: str
    dest: str
    words: str = ""
    order: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What `plan` draws, as data that `render` takes as well.

    Attributes:
        boxes: In their order, each key once.
        arrows: In their order; their ends are boxes.
        title: The heading.
        caption: A line below the heading.
    """

    boxes: tuple[PlanBox, ...]
    arrows: tuple[PlanArrow, ...]
    title: str
    caption: str = ""

    def picture(self) -> Picture:
        """The plan before any format.

        Raises:
            ValueError: An arrow's end is no box, or two boxes have one key.
        """
        keys = safe_names(box.key for box in self.boxes)
        if len(keys) < len(self.boxes):
            raise ValueError("two boxes have one key")
        ends = {end for arrow in self.arrows for end in (arrow.source, arrow.dest)}
        if strangers := sorted(ends - set(keys)):
            raise ValueError(f"an arrow's end is no box: '{strangers[0]}'")
        words = distinct(f"{keys[arrow.source]}-{keys[arrow.dest]}" for arrow in self.arrows)
        return Picture(
            definition=None,
            title=printable(self.title),
            caption=printable(self.caption) or None,
            warning=None,
            initial=None,
            nodes=tuple(
                Node(
                    key=keys[box.key],
                    label=printable(box.key),
                    notes=(printable(box.detail),) if box.detail else (),
                    description=printable(box.description) or None,
                )
                for box in self.boxes
            ),
            arrows=tuple(
                Arrow(
                    key=word,
                    kind=ArrowKind.ORDER if arrow.order else ArrowKind.ROW,
                    source=keys[arrow.source],
                    dest=keys[arrow.dest],
                    lines=(Line(printable(arrow.words)),) if arrow.words else (),
                )
                for word, arrow in zip(words, self.arrows, strict=True)
            ),
        )


def plan(
    boxes: Iterable[PlanBox], arrows: Iterable[PlanArrow], title: str, *, caption: str = "", prefix: str = ""
) -> Scene:
    """Draws boxes and arrows for a page that marks them itself.

    Args:
        boxes: What stands there.
        arrows: What leads from box to box.
        title: What it is, for screen readers; the page has a heading of its own.
        caption: What else is to be said of it, likewise.
        prefix: Begins every id, so that two pictures can stand in one page: a word that begins with a letter.

    Returns:
        The scene; its `states` are the boxes by their keys.

    Raises:
        ValueError: The prefix is no such word, an arrow's end is no box, or two boxes have one key.
        OrkeonError: Graphviz failed, or there are too many.
        MissingExtraError: There is no Graphviz.
    """
    checked_prefix(prefix)
    drawn = Plan(tuple(boxes), tuple(arrows), title, caption)
    picture = drawn.picture()
    return laid_out_scene(
        picture,
        {box.key: node.key for box, node in zip(drawn.boxes, picture.nodes, strict=True)},
        [
            SceneArrow(
                made.key, made.kind.value, arrow.source, arrow.dest, (arrow.words,) * bool(arrow.words)
            )
            for made, arrow in zip(picture.arrows, drawn.arrows, strict=True)
        ],
    ).prefixed(prefix)
