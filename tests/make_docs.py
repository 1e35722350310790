"""Writes what the guides have from the schemas: `python -m tests.make_docs`.

`yaml-keys.md` is a table of every key that a machine file or a crew file may have, and `schemas/` has the
JSON Schemas for editors. `tests/test_docs.py` compares them with what is written here, so that neither can
fall behind.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import orkeon_transitions
from orkeon_transitions.crew import crew_schema
from orkeon_transitions.definition import machine_schema
from orkeon_transitions.definition.names import camel_case, snake_case

DOCS = Path(orkeon_transitions.__file__).parent / "docs"
SCHEMAS = {"machine": machine_schema, "crew": crew_schema}
CARRIED, LATER, ALIAS = "Accepted, without effect", "Not there yet", "Another word for"
KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true, false"}
A_BLOCK = "a block"
IN_ANY_CASE = r"^\s*("
"""Begins the pattern of names that are listed already."""
HEAD = """# Every YAML key

Look up a key of a machine file or a crew file: what it may hold, what counts without it, what it does.

Each key may be written in snake_case or in camelCase; both with different values are an error. A value may be
`null`, which is as good as absent. `orkeon schema machine` and `orkeon schema crew` tell editors the same.
"""


def written() -> dict[Path, str]:
    """What stands in each of the files."""
    files = {
        DOCS / "schemas" / f"{kind}.schema.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
        for kind, schema in SCHEMAS.items()
    }
    return files | {DOCS / "yaml-keys.md": yaml_keys()}


def yaml_keys() -> str:
    """The guide with the tables."""
    machine, crew = machine_schema(), crew_schema()
    parts = [
        HEAD,
        "## Machine files\n",
        *_tables("the file", machine, machine, snake_case),
        "## Crew files\n",
        *_tables("the crew", crew, crew, camel_case),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _tables(name, block, root, spelled) -> Iterator[str]:
    """The table of a block, and those of the blocks inside of it."""
    yield from _table(name, block, root, spelled)
    for title, inner in _blocks_of(block, root, spelled):
        yield from _table(f"`{title}`", inner, root, spelled)


def _blocks_of(block, root, spelled):
    """The blocks that have tables of their own, in the order in which they are met."""
    found, waiting = {}, [block]
    while waiting:
        for key, schema in waiting.pop(0).get("properties", {}).items():
            if key != spelled(key) or _is_said_elsewhere(schema):
                continue
            for name, inner in _inner(key, schema, root):
                title = spelled(name)
                if title not in found:
                    found[title] = inner
                    waiting.append(inner)
    return found.items()


def _inner(key, schema, root):
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from _inner(name, root["$defs"][name], root)
    elif "properties" in schema:
        yield key, schema
    for part in (*schema.get("anyOf", ()), *_contents(schema)):
        yield from _inner(key, part, root)


def _contents(schema):
    """What a list or a mapping of names holds."""
    return [one for one in (schema.get("items"), schema.get("additionalProperties")) if isinstance(one, dict)]


def _is_said_elsewhere(schema) -> bool:
    return schema.get("description", "").startswith((CARRIED, LATER, ALIAS))


def _table(name, block, root, spelled) -> Iterator[str]:
    keys = {key: schema for key, schema in block["properties"].items() if key == spelled(key)}
    required = {spelled(key) for key in block.get("required", ())}
    yield f"### In {name}\n"
    yield "| key | value | without it | what it does |"
    yield "|---|---|---|---|"
    for key, schema in keys.items():
        if not _is_said_elsewhere(schema):
            without = "**needed**" if key in required else _value(schema.get("default"))
            value = _words(schema, root, spelled).replace(A_BLOCK, f"a `{key}` block")
            yield f"| `{key}` | {value} | {without} | {schema['description']} |"
    yield ""
    aliases = {key: schema for key, schema in keys.items() if schema.get("description", "").startswith(ALIAS)}
    if aliases:
        yield (
            "Other words: "
            + "; ".join(
                f"`{key}` is {schema['description'].removeprefix('Another word for ').rstrip('.')}"
                for key, schema in aliases.items()
            )
            + ".\n"
        )
    for words, mark in (
        ("Accepted, without effect", CARRIED),
        ("Refused, since they are not there yet", LATER),
    ):
        names = [key for key, schema in keys.items() if schema.get("description", "").startswith(mark)]
        if names:
            yield f"{words}: {', '.join(f'`{key}`' for key in names)}.\n"


def _value(value) -> str:
    if value is None:
        return ""
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _words(schema, root, spelled) -> str:
    """What may stand there, in a few words; `null` goes without saying."""
    return " or ".join(dict.fromkeys(_alternatives(schema, root, spelled)))


def _alternatives(schema, root, spelled) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        for words in _alternatives(root["$defs"][name], root, spelled):
            yield words.replace(A_BLOCK, f"{'an' if name[0] in 'ae' else 'a'} `{spelled(name)}` block")
    elif "anyOf" in schema:
        for part in schema["anyOf"]:
            yield from _alternatives(part, root, spelled)
    elif "enum" in schema:
        named = [value for value in schema["enum"] if value is not None]
        yield ", ".join(_value(value) for value in named)
    else:
        yield from _kinds(schema, root, spelled)


def _kinds(schema, root, spelled) -> Iterator[str]:
    kinds = schema.get("type", "anything")
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "array":
            items = schema.get("items", {})
            yield (
                f"list of {_words(items, root, spelled)}" if items and "prefixItems" not in schema else "list"
            )
        elif kind == "object":
            yield from _object(schema, root, spelled)
        elif kind != "null" and not schema.get("pattern", "").startswith(IN_ANY_CASE):
            yield KINDS.get(kind, kind)


def _object(schema, root, spelled) -> Iterator[str]:
    content = schema.get("additionalProperties")
    if "properties" in schema:
        yield A_BLOCK
    elif isinstance(content, dict):
        yield f"mapping of names to {_words(content, root, spelled)}"
    else:
        yield "mapping"


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
