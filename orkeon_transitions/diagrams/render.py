"""The room's front: pictures of a machine as text, as bytes, as a file.

It is the door for `transitions` and `graphviz`. Both are loaded when a picture for Graphviz is drawn, never
when this module is; Mermaid loads neither.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from orkeon_transitions.definition.models import MachineDefinition
from orkeon_transitions.diagrams import look
from orkeon_transitions.diagrams.effort import EFFORTS, MOST_ARROWS, MOST_STATES
from orkeon_transitions.diagrams.graphviz_binary import WITHOUT, lay_out
from orkeon_transitions.diagrams.mermaid import mermaid_text
from orkeon_transitions.diagrams.picture import Picture, make_picture
from orkeon_transitions.diagrams.run import TraceStep, read_run
from orkeon_transitions.diagrams.svg import finished_svg
from orkeon_transitions.diagrams.writing import write_whole
from orkeon_transitions.errors import MissingExtraError, OrkeonError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

# A star never stands in a state's key, so no state's node has one of these names.
START, ANYWHERE = "**", "*"
FORMATS = (".png", ".svg", ".pdf", ".dot", ".mmd")


@runtime_checkable
class Drawable(Protocol):
    """What is no machine but can be drawn as machines are: a `Plan`."""

    def picture(self) -> Picture:
        """What is to be drawn."""


def render(
    subject: Any,
    path: str | os.PathLike[str],
    *,
    snapshot: Any = None,
    trace: Iterable[TraceStep] | None = None,
) -> Path:
    """Draws a machine into a file.

    The file is written whole or not at all; one that is there is replaced.

    Args:
        subject: A `MachineDefinition`, or anything with a `.definition` and, if it runs, a `.snapshot()`; a
            crew, whose tasks are drawn, or a `Plan`.
        path: Where to; the suffix says what: `.png`, `.svg`, `.dot`, `.mmd`, `.pdf` (with a system Graphviz).
        snapshot: A `Snapshot` or the same as a mapping: marks the current state and counts visits. A running
            subject's own is taken when none is given.
        trace: What the run did, in its order: `TransitionResult`s, or the steps of a replay. Marks the path.

    Returns:
        The path of the file.

    Raises:
        TypeError: The subject is no machine.
        OrkeonError: An unknown suffix, a folder that cannot be written, or Graphviz failed.
        MissingExtraError: There is no Graphviz.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise OrkeonError(f"cannot draw '{path}': the suffix must be one of {', '.join(FORMATS)}")
    picture = _picture(subject, snapshot, trace)
    if suffix == ".mmd":
        content = mermaid_text(picture).encode()
    elif suffix == ".dot":
        content = dot_text(picture).encode()
    else:
        content, picture = laid_out(picture, suffix[1:])
        if suffix == ".svg":
            content = finished_svg(content.decode(), picture).encode()
    return write_whole(path, content)


def to_mermaid(subject: Any, *, snapshot: Any = None, trace: Iterable[TraceStep] | None = None) -> str:
    """Draws a machine as a Mermaid `stateDiagram-v2`; needs nothing installed. Arguments as in `render`."""
    return mermaid_text(_picture(subject, snapshot, trace))


def to_dot(subject: Any, *, snapshot: Any = None, trace: Iterable[TraceStep] | None = None) -> str:
    """Draws a machine in Graphviz' language; needs no Graphviz installed. Arguments as in `render`."""
    return dot_text(_picture(subject, snapshot, trace))


def to_svg(subject: Any, *, snapshot: Any = None, trace: Iterable[TraceStep] | None = None) -> str:
    """Draws a machine as SVG.

    States have the ids `state-<name>`, arrows `arrow-<from>-<to>`, both classes that say what they are.
    Arguments and errors as in `render`.
    """
    drawn, picture = laid_out(_picture(subject, snapshot, trace), "svg")
    return finished_svg(drawn.decode(), picture)


def to_png(subject: Any, *, snapshot: Any = None, trace: Iterable[TraceStep] | None = None) -> bytes:
    """Draws a machine as a PNG image. Arguments and errors as in `render`."""
    drawn, _ = laid_out(_picture(subject, snapshot, trace), "png")
    return drawn


def _picture(subject: Any, snapshot: Any, trace: Iterable[TraceStep] | None) -> Picture:
    if callable(plan := getattr(subject, "task_plan", None)):
        subject = plan()
    if isinstance(subject, Drawable):
        return subject.picture()
    definition = subject if isinstance(subject, MachineDefinition) else getattr(subject, "definition", None)
    if callable(definition):
        definition = definition()
    if not isinstance(definition, MachineDefinition):
        raise TypeError(
            f"cannot draw an object of {type(subject).__name__}: it is no machine and no MachineDefinition, "
            "which load_definition makes of a file or of the keywords of a `transitions` machine"
        )
    if snapshot is None and callable(own := getattr(subject, "snapshot", None)):
        snapshot = own()
    return make_picture(definition, read_run(definition, snapshot, trace))


def laid_out(picture: Picture, kind: str) -> tuple[bytes, Picture]:
    """Lets Graphviz draw a picture, as well as its size allows.

    Args:
        picture: What is to be drawn.
        kind: `png`, `svg` or `pdf`.

    Returns:
        What was drawn, and the picture with the effort that was made for it.

    Raises:
        OrkeonError: Graphviz failed, or the machine is too large.
        MissingExtraError: There is no Graphviz.
    """
    size = f"'{picture.title}' has {len(picture.nodes)} states and {len(picture.arrows)} arrows"
    if len(picture.nodes) > MOST_STATES or len(picture.arrows) > MOST_ARROWS:
        most = f"at most {MOST_STATES} and {MOST_ARROWS} can be laid out"
        raise OrkeonError(f"too large to be drawn: {size}; {most}. {WITHOUT}")
    failures = []
    for effort in EFFORTS:
        if len(picture.arrows) > effort.most_arrows:
            continue
        tried = replace(picture, effort=effort)
        try:
            return lay_out(dot_text(tried), kind, engine=effort.engine, seconds=effort.seconds), tried
        except MissingExtraError:
            raise
        except OrkeonError as error:
            failures.append(error)
    raise failures[0]


def dot_text(picture: Picture) -> str:
    """The picture in Graphviz' language, from a machine that is made for the purpose and thrown away."""
    try:
        machine_class = _machine_class()
    except ImportError as error:
        raise MissingExtraError(
            f"The Python package `graphviz` cannot be loaded ({error}). Mermaid (`.mmd`) needs nothing.",
            extra="diagrams",
        ) from error
    definition = picture.definition
    what = {"states": [], "initial": None} if definition is None else definition.to_transitions()
    options = what | {"graph_engine": "graphviz", "model": None}
    # Without a model nothing is bound by name; the attribute is one that no trigger can be named like.
    machine = machine_class(**options | {"model_attribute": "\0"})
    machine.picture = picture
    return str(machine.graph_cls(machine).get_graph().source)


@cache
def _machine_class() -> Any:
    """The `GraphMachine` whose graphs look like ours; made once, when the first picture is drawn."""
    import graphviz  # noqa: F401, PLC0415 - transitions passes a missing graphviz over in silence
    from transitions.extensions import GraphMachine  # noqa: PLC0415 - not loaded before a picture is drawn
    from transitions.extensions.diagrams_graphviz import Graph  # noqa: PLC0415 - nor is this

    class PictureGraph(Graph):
        """Draws the machine's `picture`, at the places where `transitions` lets a graph be styled."""

        def get_graph(self, title: str | None = None, roi_state: Any = None) -> Any:
            picture = self.machine.picture
            graph = super().get_graph(title or picture.title, roi_state)
            graph.name = "machine"
            graph.graph_attr.update(look.graph_attributes(picture))
            return graph

        def _add_nodes(self, states: Any, container: Any) -> None:  # noqa: ARG002 - the picture has them all
            picture = self.machine.picture
            if picture.initial is not None:
                container.node(START, **look.INITIAL)
            for node in picture.nodes:
                container.node(node.key, **look.node_attributes(node, picture))
            if picture.initial is not None:
                container.edge(START, picture.initial, **look.INITIAL_ARROW)

        def _add_edges(self, transitions: Any, container: Any) -> None:  # noqa: ARG002 - the picture has them all
            for arrow in self.machine.picture.arrows:
                source = arrow.source
                if source is None:
                    source = f"{ANYWHERE}{arrow.dest or ''}"
                    container.node(source, **look.anywhere_attributes(arrow))
                container.edge(
                    source, arrow.dest or source, **look.arrow_attributes(arrow, self.machine.picture)
                )

    class PictureMachine(GraphMachine):
        """A machine that is only drawn."""

        machine_attributes = look.GRAPH
        style_attributes = look.STYLE
        picture: Picture

        def _init_graphviz_engine(self, graph_engine: str) -> type[Graph]:  # noqa: ARG002 - there is but one
            return PictureGraph

    return PictureMachine
