"""The rules of the house, as far as a program can check them."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

import orkeon_transitions

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "orkeon_transitions"
SOURCES = sorted(PACKAGE.rglob("*.py"))
CODE = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
TEXTS = [
    path
    for folder in (PACKAGE, ROOT / "tests", ROOT / "notebooks", ROOT / ".ci")
    for path in sorted(folder.rglob("*"))
    if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".png", ".pyc"}
] + [  # in a second working tree, `.git` is a file that names the first one
    path
    for path in sorted(ROOT.iterdir())
    if path.is_file() and path.name != ".git" and not path.name.startswith(".coverage")
]

# The front door: what a user imports without naming a room.
FRONT_DOOR = {
    "AsyncStateMachine",
    "CircuitBreakerMixin",
    "CircuitBreakerPolicy",
    "CircuitBreakerStatus",
    "CircuitBrokenError",
    "DefinitionError",
    "END",
    "GraphCircuitBrokenError",
    "GraphDefinitionError",
    "GuardRejectedError",
    "HermesAgentFSM",
    "InvalidTransitionError",
    "JsonlJournal",
    "MachineDefinition",
    "OrkeonError",
    "Refusal",
    "START",
    "StateGraph",
    "StateMachine",
    "StateMachineBuilder",
    "TaskExecution",
    "TransitionResult",
    "check_definition",
    "load_crew",
    "load_definition",
    "render",
    "replay",
    "tool",
}

# Loaded by `import orkeon_transitions`, these would make it slow or demand what is optional.
HEAVY = {
    "IPython",
    "anthropic",
    "anyio",
    "anywidget",
    "click",
    "graphviz",
    "graphviz_pure",
    "httpx",
    "httpx2",
    "ipywidgets",
    "matplotlib",
    "mcp",
    "numpy",
    "openai",
    "pydantic_ai",
    "pygraphviz",
    "rich",
    "sqlalchemy",
    "starlette",
    "torch",
    "traitlets",
    "uvicorn",
    "websockets",
}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CODE, ids=named)
def test_a_long_file_says_why_at_its_top(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400 or re.search(r"long|400 lines", "\n".join(lines[:20])), f"{len(lines)} lines"


def test_no_module_is_a_drawer_for_odds_and_ends():
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert [named(path) for path in CODE if path.stem in drawers or path.parent.name in drawers] == []


@pytest.mark.parametrize("room", [*ROOMS, "errors", "facts"])
def test_every_room_says_its_law(room):
    law = importlib.import_module(f"orkeon_transitions.{room}").__doc__ or ""
    assert len(law.split()) >= 20, "a line or two are no law"
    assert re.search(r"\b(never|no|nothing|nowhere|not)\b", law), "a law also says what never belongs here"


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", CODE, ids=named)
def test_every_silenced_check_has_its_reason_beside_it(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        silenced = re.search(
            r"#\s*(type:\s*ignore(\[[^]]*\])?|noqa(:\s*[A-Z0-9, ]+)?|pragma:\s*no cover)", line
        )
        if silenced and "re.search" not in line:
            assert len(line[silenced.end() :].strip(" -:#")) >= 8, line


def test_importing_the_package_loads_nothing_heavy():
    program = "import sys, orkeon_transitions; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()) & HEAVY == set()


def test_the_front_door_is_exactly_what_is_promised():
    assert set(orkeon_transitions.__all__) == FRONT_DOOR
    assert set(orkeon_transitions.__all__) <= set(dir(orkeon_transitions))
    for name in orkeon_transitions.__all__:
        value = getattr(orkeon_transitions, name)
        assert isinstance(value, str) if name in {"START", "END"} else value.__name__ == name


@pytest.mark.parametrize("name", ["StateGraf", "start", "no_such_name"])
def test_what_is_not_there_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=name):
        getattr(orkeon_transitions, name)


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_no_file_names_the_machine_that_it_was_written_on(path):
    text = path.read_text(encoding="utf-8")
    here = "/wo" + "rk/"  # split, so that this file passes its own test
    assert here not in text
    assert not re.search(r"/(root|Users|home/(?!user\b|you\b|me\b)\w+)/", text)


def test_the_version_is_said_once():
    from importlib.metadata import version

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version("orkeon-transitions") == project["version"]
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_has_the_two_commands_that_ci_runs():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    for shape in (r"^python3 -m venv \.venv .*orkeon run ", r"^python3 -m venv \.venv .*\[dev\].*pytest"):
        assert len([line for line in lines if re.search(shape, line)]) == 1


def standing_at_the_top():
    """What git keeps there; in a copy without git, what stands there and is no leftover of a tool."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return {line.split("/")[0] for line in done.stdout.splitlines()}
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
    return {
        path.name for path in ROOT.iterdir() if not any(fnmatch(path.name, pattern) for pattern in ignored)
    }


def test_only_known_things_stand_at_the_top():
    assert standing_at_the_top() - {".git"} <= {
        ".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "notebooks",
        "orkeon_transitions", "pyproject.toml", "setup.cfg", "tests",
    }  # fmt: skip


@pytest.mark.slow
def test_the_wheel_has_everything_that_is_read_at_run_time(tmp_path):
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    there = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there <= inside
    assert {"orkeon_transitions/py.typed", "orkeon_transitions/machines/yaml/task_execution.yaml"} <= inside
    assert any(name.startswith("orkeon_transitions/examples/") and name.endswith(".ts") for name in inside)
    assert {"orkeon_transitions/docs/guards.md", "orkeon_transitions/docs/schemas/crew.schema.json"} <= inside
    assert not [name for name in inside if name.startswith(("tests/", "notebooks/"))]
