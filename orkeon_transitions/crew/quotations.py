"""What an agent is shown of others' texts: marked line by line, so that nothing in them speaks for us."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Of a longer text the beginning and the end are shown.
MOST_SHOWN = 20_000


def quoted(text: str) -> str:
    """A text of somebody else."""
    if len(text) > MOST_SHOWN:
        half = MOST_SHOWN // 2
        text = f"{text[:half]}\n[{len(text) - MOST_SHOWN:,} characters are left out here]\n{text[-half:]}"
    return "\n".join(f"> {line}" for line in text.splitlines() or [""])


def labelled(answers: Mapping[str, str]) -> str:
    """Answers under their labels; nothing says whose they are."""
    return "\n\n".join(f"### Answer {label}\n{quoted(text)}" for label, text in answers.items())


def labelled_in(text: str) -> dict[str, str]:
    """Finds what `labelled` has shown, by label."""
    found = re.findall(r"^### Answer (\S+)\n((?:> .*(?:\n|\Z))*)", text, re.MULTILINE)
    return {label: "\n".join(line[2:] for line in body.splitlines()) for label, body in found}
