"""Finds a Graphviz program and runs it. Nothing is remembered and no setting of a library is changed.

The system's `dot` comes first, since it knows every font and format; the `graphviz-pure` wheel is the second.
Each is simply run with the picture as its input, so that threads do not disturb each other.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from orkeon_transitions.errors import MissingExtraError, OrkeonError

DOTS_PER_INCH = 144
INCHES = 60  # the longest side of a PNG: a larger picture is drawn smaller
TIME_LIMIT = 60.0  # seconds
DOWNLOAD = "https://graphviz.org/download"
WITHOUT = "Mermaid (`.mmd`) and DOT text (`.dot`) need no program."
_PURE = "graphviz-pure"
_BEGINS = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF", "svg": b"<"}


class Program(NamedTuple):
    """A Graphviz program.

    Attributes:
        name: How a person calls it.
        path: Where it is.
    """

    name: str
    path: str


class _FailedError(Exception):
    """One program could not draw the picture; the next one may."""


def lay_out(dot_text: str, kind: str, *, engine: str = "dot", seconds: float = TIME_LIMIT) -> bytes:
    """Lets Graphviz lay a picture out.

    Args:
        dot_text: The picture in Graphviz' language.
        kind: `png`, `svg` or `pdf`.
        engine: Graphviz' name of a kind of layout.
        seconds: How long a program may take; it is ended then.

    Raises:
        MissingExtraError: There is no program.
        OrkeonError: Every program that there is failed (the text has their own words), or none draws a PDF.
    """
    failures = []
    for program in programs():
        if kind == "pdf" and program.name == _PURE:
            continue
        try:
            return _run(program, dot_text, kind, engine, min(seconds, TIME_LIMIT))
        except _FailedError as failure:
            failures.append(f"{program.name}: {failure}")
    if failures:
        raise OrkeonError(f"Graphviz could not draw the {kind.upper()}: {'; '.join(failures)}. {WITHOUT}")
    if kind == "pdf":
        # No extra helps here: graphviz-pure draws no PDF.
        raise OrkeonError(
            f"a PDF needs the program `dot` of a system Graphviz ({DOWNLOAD}); it was not found"
        )
    raise MissingExtraError(
        f"The program `dot` was not found: install Graphviz ({DOWNLOAD}) or the extra. {WITHOUT}",
        extra="diagrams",
    )


def programs() -> Iterator[Program]:
    """The Graphviz programs that there are, the best first."""
    if path := shutil.which("dot"):
        yield Program("dot", path)
    if path := _pure_path():
        yield Program(_PURE, path)


def _pure_path() -> str | None:
    """Where the wheel put its program, which need not be on the PATH."""
    try:
        files = distribution(_PURE).files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name in (_PURE, f"{_PURE}.exe") and (path := Path(str(file.locate()))).is_file():
            return str(path.resolve())
    return shutil.which(_PURE)


def _run(program: Program, dot_text: str, kind: str, engine: str, seconds: float) -> bytes:
    resolution = [f"-Gdpi={DOTS_PER_INCH}", f"-Gsize={INCHES}"] if kind == "png" else []
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are our own, the picture goes in as input
            [program.path, f"-K{engine}", f"-T{kind}", *resolution],
            input=dot_text.encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _FailedError(f"took longer than {seconds:g} s") from None
    except OSError as error:
        raise _FailedError(error.strerror or str(error)) from error
    if done.returncode != 0 or not done.stdout.startswith(_BEGINS[kind]):
        words = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise _FailedError(words.rstrip(".") or f"ended with status {done.returncode} and no picture")
    return done.stdout
