"""A machine's picture for a page that goes on drawing: laid out once, marked and coloured by the page.

The SVG has a `viewBox` and no size of its own, no ground and no heading. Every part has an id, and classes
that say what it is; its colours are attributes, which any rule of a style sheet overrides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from orkeon_transitions.diagrams.names import printable, safe_names
from orkeon_transitions.diagrams.picture import make_picture
from orkeon_transitions.diagrams.render import laid_out
from orkeon_transitions.diagrams.run import Run
from orkeon_transitions.diagrams.svg import scenic_svg

if TYPE_CHECKING:
    from orkeon_transitions.definition.models import MachineDefinition
    from orkeon_transitions.diagrams.picture import Picture

_PREFIX = re.compile(r"([A-Za-z_][\w-]*)?")


@dataclass(frozen=True, slots=True)
class SceneArrow:
    """An arrow of a scene.

    Attributes:
        element: Its id in the SVG.
        kind: `row`; `anywhere` for a row that is drawn once for every state; `breaker` for the way into the
            degraded state that a trip takes.
        source: The state that it leaves; None: any state.
        dest: The state at which it ends; None: the one that it leaves, whichever that is.
        triggers: What is written on it, each once, in file order; none where `kind` is `breaker`.
    """

    element: str
    kind: str
    source: str | None
    dest: str | None
    triggers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture and where its parts are.

    Attributes:
        svg: The picture, an `<svg>` element.
        states: The id of each state's element, by the state's name, in file order.
        arrows: In file order.
        wordless: Whether it is so large that no words stand on its arrows, only in their titles.
    """

    svg: str
    states: Mapping[str, str]
    arrows: tuple[SceneArrow, ...]
    wordless: bool = False

    def prefixed(self, prefix: str) -> Scene:
        """The same with other ids, so that it can stand beside another one."""
        return replace(
            self,
            svg=self.svg.replace('<g id="', f'<g id="{prefix}'),
            states=MappingProxyType({name: f"{prefix}{element}" for name, element in self.states.items()}),
            arrows=tuple(replace(arrow, element=f"{prefix}{arrow.element}") for arrow in self.arrows),
        )


def scene(definition: MachineDefinition, *, prefix: str = "") -> Scene:
    """Draws a machine for a page that marks states and arrows itself.

    It is drawn in a process of its own that is ended when it takes too long, half a minute for the largest
    machines that are drawn at all. What was drawn lately is remembered by the definition's content.

    Args:
        definition: The machine.
        prefix: Begins every id, so that two pictures can stand in one page: a word that begins with a letter.

    Raises:
        ValueError: The prefix is no such word.
        OrkeonError: Graphviz failed, or the machine is too large.
        MissingExtraError: There is no Graphviz.
    """
    checked_prefix(prefix)
    return _drawn(definition).prefixed(prefix)


def checked_prefix(prefix: str) -> None:
    """Raises `ValueError` where ids cannot begin like that."""
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"the prefix '{prefix}' must be a word that begins with a letter")


def laid_out_scene(picture: Picture, keys: Mapping[str, str], arrows: Iterable[SceneArrow]) -> Scene:
    """A picture as a scene.

    Args:
        picture: What is drawn.
        keys: The nodes' keys by the names that the page knows.
        arrows: The picture's, with their keys in place of ids.
    """
    drawn, tried = laid_out(replace(picture, bare=True), "svg")
    return Scene(
        svg=scenic_svg(drawn.decode(), tried),
        states=MappingProxyType({name: f"state-{key}" for name, key in keys.items()}),
        arrows=tuple(replace(arrow, element=f"arrow-{arrow.element}") for arrow in arrows),
        wordless=tried.effort.wordless,
    )


@lru_cache(maxsize=32)
def _drawn(definition: MachineDefinition) -> Scene:
    picture = make_picture(definition, Run())
    keys = safe_names(definition.states_by_name)
    names = {key: name for name, key in keys.items()}
    triggers = {printable(trigger): trigger for trigger in definition.triggers}
    arrows = [
        SceneArrow(
            element=arrow.key,
            kind=arrow.kind.value,
            source=None if arrow.source is None else names[arrow.source],
            dest=None if arrow.dest is None else names[arrow.dest],
            # The breaker's own words are no trigger.
            triggers=tuple(
                dict.fromkeys(triggers[line.trigger] for line in arrow.lines if line.trigger in triggers)
            ),
        )
        for arrow in picture.arrows
    ]
    return laid_out_scene(picture, keys, arrows)
