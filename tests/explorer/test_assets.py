"""The explorer's sources as the one script and the one style sheet that widgets and browsers take."""

import re

from orkeon_transitions.explorer.assets import STATIC, script, style

PARTS = sorted((STATIC / "parts").glob("*.js"))


def test_the_script_is_one_module_with_one_default_export():
    text = script()
    assert re.findall(r"^(?:import|export).*", text, re.MULTILINE) == ["export default { render };"]
    assert text.count("\nfunction render(") == 1


def test_every_part_is_in_it_once():
    text = script()
    for part in PARTS:
        first = part.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith("// "), f"{part.name} says what it is"
        assert text.count(f"{first}\n") == 1


def test_what_is_imported_is_exported_and_no_two_parts_export_the_same():
    exported = {}
    for part in PARTS:
        for name in re.findall(r"^export (?:function|class|const) (\w+)", part.read_text(), re.MULTILINE):
            assert exported.setdefault(name, part) == part, name
    for source in [*PARTS, STATIC / "explorer.js"]:
        text = source.read_text(encoding="utf-8")
        assert len(re.findall(r"^import\b", text, re.MULTILINE)) == len(
            re.findall(r'^import \{[^}]*\} from "\./[\w./]+";$', text, re.MULTILINE)
        )
        for names, where in re.findall(r'^import \{([^}]*)\} from "(\./[\w./]+)";$', text, re.MULTILINE):
            for name in filter(None, map(str.strip, names.split(","))):
                assert exported[name] == (source.parent / where).resolve()
                assert re.search(rf"\b{name}\b", text.split(";\n\n", 1)[1]), (
                    f"{source.name}: {name} is not used"
                )


def test_a_part_comes_after_those_that_it_builds_upon():
    text = script()
    assert text.index("const { Camera }") < text.index("const { parsedDrawing, Drawing, lensTools }")
    assert text.rstrip().endswith("export default { render };")


def selectors(sheet):
    """Every selector of a style sheet; a comma inside of brackets parts none."""
    text = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    text = re.sub(r"@keyframes [\w-]+ \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    for chunk in re.findall(r"([^{};]+)\{", text):
        if chunk.strip().startswith("@"):
            continue
        depth, one = 0, ""
        for letter in f"{chunk},":
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                yield one.strip()
                one = ""
            else:
                one += letter


def test_every_rule_holds_for_explorers_only():
    found = list(selectors(style()))
    assert len(found) > 200
    assert [one for one in found if not re.search(r"\.orkeon-explorer|\.orkeon-page", one)] == []


def test_nothing_is_fetched_and_no_text_is_read_as_html():
    for text in (script(), style()):
        addresses = set(re.findall(r"\w+://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in text
        assert "url(" not in re.sub(r"/url\\\(", "", text)
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "fetch(",
    ):
        assert way not in script()


def test_no_source_is_long():
    for source in [STATIC / "explorer.js", STATIC / "explorer.css", *(STATIC / "parts").iterdir()]:
        assert len(source.read_text(encoding="utf-8").splitlines()) <= 400, source.name
