"""The notebooks as they lie in git: stripped, formatted, readable. `pytest --nbmake notebooks` runs them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PLACES = re.compile(r"/(?:home|root|tmp|work|Users)/")
SNIPPET = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```$)?", re.DOTALL | re.MULTILINE
)


def read(path):
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def code_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_the_six_are_there_and_nothing_else():
    numbers = [int(path.name.partition("-")[0]) for path in NOTEBOOKS]
    assert numbers == [1, 2, 3, 4, 5, 6]
    others = {path.name for path in FOLDER.iterdir()} - {path.name for path in NOTEBOOKS}
    assert not others - {".ipynb_checkpoints"}


@each
def test_outputs_and_counts_are_stripped(path):
    for number, cell in enumerate(read(path).cells, start=1):
        if cell.cell_type == "code":
            assert cell.outputs == [], f"cell {number} has outputs"
            assert cell.execution_count is None, f"cell {number} has a count"
        assert not cell.metadata, f"cell {number} has metadata"


@each
def test_it_is_a_notebook_for_any_python(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    # The version of one computer's Python would change with whoever saved it.
    assert notebook.metadata.language_info == {"name": "python"}
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@each
def test_it_is_saved_as_jupyter_saves_it(path):
    text = path.read_text(encoding="utf-8")
    saved = json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    assert text == saved, "so that opening and saving it changes nothing"


@each
def test_code_is_formatted(path):
    command = [sys.executable, "-m", "ruff", "format", "--check", "--diff", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FOLDER.parent)
    assert done.returncode == 0, done.stdout


@each
def test_it_begins_with_a_title_and_explains_itself(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    titles = [
        line
        for cell in cells
        if cell.cell_type == "markdown"
        for line in re.sub(r"^```.*?^```", "", cell.source, flags=re.DOTALL | re.MULTILINE).splitlines()
        if line.startswith("# ")
    ]
    assert len(titles) == 1
    assert cells[-1].source.strip()
    # Too many cells of code without a word between them lose their reader.
    kinds = "".join("w" if cell.cell_type == "markdown" else "c" for cell in cells)
    assert "cccc" not in kinds


@each
def test_it_neither_sleeps_nor_names_somebody_s_folder(path):
    for code in code_of(read(path)):
        assert "time.sleep" not in code
        assert not PLACES.search(code)


@each
def test_it_imports_only_what_dev_installs(path):
    ours = {"IPython", "orkeon_transitions", "transitions"} | sys.stdlib_module_names
    for code in code_of(read(path)):
        tree = compile(code, path.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= ours


def foreign_snippets():
    """What stands as text, since its library is not needed: the library, the code, what it printed."""
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            for snippet in SNIPPET.finditer(cell.source) if cell.cell_type == "markdown" else ():
                library = re.search(r"^(?:from|import) (langgraph|crewai)\b", snippet["code"], re.MULTILINE)
                yield library and library[1], snippet["code"], snippet["output"]


FOREIGN = list(foreign_snippets())


def test_foreign_code_is_of_a_library_that_is_named():
    assert {library for library, _, _ in FOREIGN} == {"langgraph", "crewai"}


@pytest.mark.parametrize(("library", "code", "output"), FOREIGN, ids=[library for library, *_ in FOREIGN])
def test_foreign_code_prints_what_the_text_says(library, code, output):
    compile(code, library, "exec", dont_inherit=True)
    if output is None:
        return
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed (pip install -e '.[bench]')")
    # In a process of its own: its warnings and its threads are not ours.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == output, done.stderr
