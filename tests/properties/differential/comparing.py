"""Two engines in the same world: the first difference, in as few steps as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.properties.differential.life import lived
from tests.properties.differential.worlds import World, draw

Breaking = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Difference:
    """Where two engines part.

    Attributes:
        world: The world, shrunk to the steps that it takes.
        place: The number of the entry.
        stock: What could be noticed on the reference.
        other: What could be noticed instead.
        before: The entries before, which both share.
    """

    world: World
    place: int
    stock: Any
    other: Any
    before: tuple[Any, ...]

    def __str__(self) -> str:
        world = self.world
        lines = [
            f"the engines part in world {world.seed}, entry {self.place}:",
            f"  stock: {self.stock}",
            f"  auto:  {self.other}",
            "before that, both:",
            *(f"  {entry}" for entry in self.before),
            "the script:",
            *(f"  {op}" for op in world.script),
            f"temper {world.temper}, hooks {sorted(world.hooks)}, enums {world.enums}",
            f"commits {world.commits}",
            f"places {world.places}, policies {world.policies}, kinds {world.kinds}",
            world.definition.to_yaml(),
        ]
        return "\n".join(lines)


def difference(world: World) -> Difference | None:
    """Where the engines part in a world, or None."""
    return parted(world, lived(world, "stock"), lived(world, "auto"))


@lru_cache(maxsize=512)
def reference(seed: int) -> tuple[World, list[Any]]:
    """A world, and what could be noticed in it on the reference; kept, as many are compared with it."""
    world = draw(seed)
    return world, lived(world, "stock")


def breaks(broken: Breaking, seeds: Iterable[int]) -> int | None:
    """The first of these worlds that tells the broken engine from the reference, or None."""
    for seed in seeds:
        world, stock = reference(seed)
        with broken():
            other = lived(world, "auto")
        if other != stock:
            return seed
    return None


def parted(world: World, stock: list[Any], other: list[Any]) -> Difference | None:
    """Where two logs part, or None."""
    assert stock[-1][0] != "the world ended", stock[-1]
    if stock == other:
        return None
    longest = max(len(stock), len(other))
    entries = [each + [None] * (longest - len(each)) for each in (stock, other)]
    place = next(n for n, (left, right) in enumerate(zip(*entries, strict=True)) if left != right)
    return Difference(
        world, place, entries[0][place], entries[1][place], tuple(stock[max(place - 12, 0) : place])
    )


def first_difference(seeds: Iterable[int]) -> Difference | None:
    """Where the engines part in the first of these worlds in which they do, or None."""
    for seed in seeds:
        found = difference(draw(seed))
        if found is not None:
            return shrunk(found)
    return None


def shrunk(found: Difference) -> Difference:
    """The same difference, or another one, in fewer steps."""
    left_out: set[int] = set()
    world = found.world
    for op in reversed(world.script):
        shorter = difference(world.without({*left_out, op.number}))
        if shorter is not None:
            left_out.add(op.number)
            found = shorter
    return found
