"""`{topic}` in a crew file's texts, filled from a run's inputs. `{{topic}}` stays as `{topic}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")


def names_in(text: str) -> list[str]:
    """The inputs that a text asks for, once each."""
    return list(dict.fromkeys(name for _, name in PLACEHOLDER.findall(text) if name))


def fill(text: str, inputs: Mapping[str, Any]) -> str:
    """Puts the inputs in. What an input holds is not looked through again."""
    return PLACEHOLDER.sub(lambda found: f"{{{found[1]}}}" if found[1] else str(inputs[found[2]]), text)
