"""How much is asked of Graphviz. A large machine is laid out more plainly, and nobody waits for ever.

Words on arrows and bent arrows take most of the time, and it grows faster than the machine does. Each effort
has its own time; when that is up, the next plainer one is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Effort:
    """One way to lay a picture out.

    Attributes:
        most_arrows: Beyond them it is not even tried.
        seconds: How long Graphviz may take for it.
        attributes: Of the graph.
        engine: Graphviz' layout: `dot` goes from top to bottom, `sfdp` lets everything float.
        wordless: Whether arrows stand without words.
    """

    most_arrows: int
    seconds: float
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    engine: str = "dot"
    wordless: bool = False


def _effort(most_arrows: int, seconds: float, engine: str = "dot", **attributes: str) -> Effort:
    return Effort(most_arrows, seconds, MappingProxyType(attributes), engine, wordless=True)


# Four times the usual effort to untangle arrows, as long as that takes no time worth speaking of.
BEST = Effort(60, 5, MappingProxyType({"mclimit": "4"}))
EFFORTS = (
    BEST,
    Effort(170, 5, MappingProxyType({"mclimit": "0.3"})),
    _effort(700, 4, mclimit="0.1", nslimit="2"),
    _effort(2500, 6, mclimit="0.05", nslimit="0.3", nslimit1="0.3", outputorder="edgesfirst", splines="line"),
    _effort(3000, 20, "sfdp", outputorder="edgesfirst", overlap="prism", splines="line"),
)
MOST_STATES = 1000
MOST_ARROWS = EFFORTS[-1].most_arrows
