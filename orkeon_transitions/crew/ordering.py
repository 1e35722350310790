"""Which task comes before which."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping

Dependencies = Mapping[str, Iterable[str]]


def in_order(dependencies: Dependencies) -> list[str]:
    """Puts tasks behind what they depend on; otherwise the order stays as it is.

    Args:
        dependencies: For each task, the tasks that it needs; without cycles, every name known.
    """
    place = {name: index for index, name in enumerate(dependencies)}
    names = list(dependencies)
    waits_for = {name: set(needed) for name, needed in dependencies.items()}
    needed_by: dict[str, list[str]] = {name: [] for name in names}
    for name, needed in waits_for.items():
        for one in needed:
            needed_by[one].append(name)
    ready = [place[name] for name in names if not waits_for[name]]
    ordered = []
    while ready:
        name = names[heapq.heappop(ready)]
        ordered.append(name)
        for dependent in needed_by[name]:
            waits_for[dependent].discard(name)
            if not waits_for[dependent]:
                heapq.heappush(ready, place[dependent])
    return ordered


def in_waves(dependencies: Dependencies) -> list[list[str]]:
    """Groups tasks so that each needs only tasks of earlier groups, and is in the first that it can be in.

    Args:
        dependencies: For each task, the tasks that it needs; without cycles, every name known.
    """
    wave_of: dict[str, int] = {}
    for name in in_order(dependencies):
        wave_of[name] = 1 + max((wave_of[needed] for needed in dependencies[name]), default=-1)
    waves: list[list[str]] = [[] for _ in range(1 + max(wave_of.values(), default=-1))]
    for name in dependencies:
        waves[wave_of[name]].append(name)
    return waves


def find_cycles(dependencies: Dependencies) -> list[list[str]]:
    """Finds cycles, no task in two of them: each as its path, the first name again at the end.

    A walk that never calls itself and goes each way once: a chain of any length, and any number of cycles,
    are no matter.
    """
    known = {name: [one for one in needed if one in dependencies] for name, needed in dependencies.items()}
    finished: set[str] = set()
    cycles = []
    for start in known:
        path: dict[str, Iterator[str]] = {}
        following: str | None = start
        while following is not None:
            if following in path:
                cycle = _taken_back_to(following, path)
                cycles.append([*cycle, following])
                finished.update(cycle)
            elif following not in finished:
                path[following] = iter(known[following])
            following = _onward(path, finished)
    return cycles


def _taken_back_to(name: str, path: dict[str, Iterator[str]]) -> list[str]:
    """Takes the end of a walk, from a name on, off it."""
    taken = []
    while name in path:
        taken.append(path.popitem()[0])
    return taken[::-1]


def _onward(path: dict[str, Iterator[str]], finished: set[str]) -> str | None:
    """The next step of a walk: from its last place, or from the last one that still has a way to go."""
    while path:
        name, upcoming = next(reversed(path.items()))
        following = next(upcoming, None)
        if following is not None:
            return following
        del path[name]
        finished.add(name)
    return None
