"""What may take forever is done in a process of its own, which can be ended: nothing else ends a pattern.

Run as a script, this file answers one question: JSON on standard input, JSON on standard output.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

SECONDS = 10.0
MOST_PROBLEMS = 10


class TookTooLongError(Exception):
    """The answer did not come in time."""


def asked_apart(question: Mapping[str, Any], seconds: float) -> list[str]:
    """Asks another process.

    Args:
        question: `pattern` and `text`, or `schema` and `text`.
        seconds: How long it may take.

    Returns:
        For a pattern, `["found"]` or nothing; for a schema, what is wrong, in words.

    Raises:
        TookTooLongError: It took longer.
        RuntimeError: There was no answer.
    """
    command = [sys.executable, "-I", str(Path(__file__))]
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and this file
            command, input=json.dumps(question).encode(), capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise TookTooLongError(f"took longer than {seconds:g} seconds") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"the process ended with {done.returncode}")
    answer: list[str] = json.loads(done.stdout)
    return answer


def _answer(question: Mapping[str, Any]) -> list[str]:
    if "pattern" in question:
        return ["found"] if re.search(question["pattern"], question["text"]) else []
    return _misfits(question["schema"], json.loads(question["text"]))


def _misfits(schema: Any, value: Any) -> list[str]:

    from jsonschema import Draft202012Validator  # noqa: PLC0415 - optional, and slow to import
    from referencing import Registry  # noqa: PLC0415 - comes with it

    # A registry of its own: nothing is fetched from anywhere.
    errors = Draft202012Validator(schema, registry=Registry()).iter_errors(value)
    try:
        return [f"at {error.json_path}: {_short(error.message)}" for error in islice(errors, MOST_PROBLEMS)]
    except RecursionError:
        return ["it is nested too deep to be held against its schema"]


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:200]}…"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_answer(json.load(sys.stdin))))
