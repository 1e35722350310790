"""A machine's picture for a page that goes on drawing: laid out once, marked and coloured by the page.

The SVG has a `viewBox` and no size of its own, no ground and no heading. Every part has an id, and classes
that say what it is; its colours are attributes, which any rule of a style sheet overrides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from orkeon_transitions.diagrams.names import safe_names
from orkeon_transitions.diagrams.picture import ArrowKind, make_picture
from orkeon_transitions.diagrams.render import laid_out
from orkeon_transitions.diagrams.run import Run
from orkeon_transitions.diagrams.svg import scenic_svg

if TYPE_CHECKING:
    from orkeon_transitions.definition.models import MachineDefinition
    from orkeon_transitions.diagrams.picture import Arrow

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
    """

    svg: str
    states: Mapping[str, str]
    arrows: tuple[SceneArrow, ...]


def scene(definition: MachineDefinition, *, prefix: str = "") -> Scene:
    """Draws a machine for a page that marks states and arrows itself.

    What was drawn lately is remembered by the definition's content, so that many pages may ask for it.

    Args:
        definition: The machine.
        prefix: Begins every id, so that two pictures can stand in one page: a word that begins with a letter.

    Raises:
        ValueError: The prefix is no such word.
        OrkeonError: Graphviz failed.
        MissingExtraError: There is no Graphviz.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"the prefix '{prefix}' must be a word that begins with a letter")
    svg, states, arrows = _drawn(definition)
    return Scene(
        svg=svg.replace('<g id="', f'<g id="{prefix}'),
        states=MappingProxyType({name: f"{prefix}{element}" for name, element in states.items()}),
        arrows=tuple(replace(arrow, element=f"{prefix}{arrow.element}") for arrow in arrows),
    )


@lru_cache(maxsize=32)
def _drawn(definition: MachineDefinition) -> tuple[str, dict[str, str], tuple[SceneArrow, ...]]:
    drawn, picture = laid_out(replace(make_picture(definition, Run()), bare=True), "svg")
    svg = scenic_svg(drawn.decode(), picture)
    keys = safe_names(definition.states_by_name)
    names = {key: name for name, key in keys.items()}
    arrows = tuple(
        SceneArrow(
            element=f"arrow-{arrow.key}",
            kind=arrow.kind.value,
            source=None if arrow.source is None else names[arrow.source],
            dest=None if arrow.dest is None else names[arrow.dest],
            triggers=() if arrow.kind is ArrowKind.BREAKER else _triggers(arrow),
        )
        for arrow in picture.arrows
    )
    return svg, {name: f"state-{key}" for name, key in keys.items()}, arrows


def _triggers(arrow: Arrow) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.trigger for line in arrow.lines))
