"""The explorer's JavaScript and style sheets, each joined into the one text that a widget and a browser take.

The sources stand in `static/`: `explorer.js` and what it imports from `parts/`, and a style sheet beside each
part. They are written as they would run in a browser, one module for each concern. Here they are joined:
a widget takes one file. What a part does not export stays its own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{[^}]*\} from "(\./[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\s+(\w+))", re.MULTILINE)


@cache
def script() -> str:
    """One ES module whose default export has `render({ model, el })`, as anywidget and our page call it."""
    return "\n".join(_joined(STATIC / "explorer.js", set()))


@cache
def style() -> str:
    """One style sheet; every rule in it holds for explorers only."""
    sheets = [STATIC / "explorer.css", *sorted((STATIC / "parts").glob("*.css"))]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def _joined(path: Path, seen: set[Path]) -> list[str]:
    """A module's text after those of the modules that it imports, each once."""
    if path in seen:
        return []
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    imported = [
        part for name in _IMPORT.findall(text) for part in _joined((path.parent / name).resolve(), seen)
    ]
    body = _EXPORT.sub("", _IMPORT.sub("", text)).strip()
    if names := ", ".join(_EXPORT.findall(text)):
        body = f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();"
    return [*imported, f"{body}\n"]
