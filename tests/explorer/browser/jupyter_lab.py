"""A real JupyterLab on the loopback, in a folder of its own, for one test module."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import nbformat

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PATIENCE = 60
NOTEBOOK = "shell.currentWidget"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
QUIET = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none", "autoStartDefaultKernel": True},
}


class Lab:
    """`jupyter lab` as a process: nothing of the user's is read, nothing is written outside of its folder."""

    def __init__(self, folder: Path, *, theme: str = "light") -> None:
        self.folder = folder
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir(parents=True)
        self._token = secrets.token_hex(16)
        self._settings(theme)
        self._log = (folder / "lab.log").open("wb")
        self._process = subprocess.Popen(
            self._command(), env=self._environment(), stdout=self._log, stderr=subprocess.STDOUT, cwd=folder
        )
        try:
            self.url = self._started()
        except BaseException:
            self.close()
            raise

    def address(self, notebook: str) -> str:
        """Where a page with one notebook is."""
        return f"{self.url}lab/tree/{notebook}?token={self._token}&reset"

    def write(self, name: str, *cells: str) -> str:
        """Writes a notebook whose cells are these, and gives its name."""
        notebook = nbformat.v4.new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            cells=[nbformat.v4.new_code_cell(dedent(cell).strip()) for cell in cells],
        )
        nbformat.write(notebook, self.notebooks / name)
        return name

    def close(self) -> None:
        """Ends the server and its kernels."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--ServerApp.port_retries=0"),
            f"--ServerApp.root_dir={self.notebooks}",
            f"--IdentityProvider.token={self._token}",
            f"--LabApp.user_settings_dir={self.folder / 'settings'}",
            f"--LabApp.workspaces_dir={self.folder / 'workspaces'}",
            "--LabApp.extension_manager=readonly",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.expose_app_in_browser=True",
        ]

    def _environment(self) -> dict[str, str]:
        places = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
            "HOME": "home",
        }
        for place in places.values():
            (self.folder / place).mkdir(exist_ok=True)
        return os.environ | {name: str(self.folder / place) for name, place in places.items()}

    def _settings(self, theme: str) -> None:
        settings = QUIET | {"@jupyterlab/apputils-extension/themes": {"theme": THEMES[theme]}}
        for plugin, values in settings.items():
            file = self.folder / "settings" / f"{plugin}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values), encoding="utf-8")

    def _started(self) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            for file in (self.folder / "runtime").glob("jpserver-*.json"):
                url = _url_in(file)
                if url is not None and _answers(f"{url}api"):
                    return url
            time.sleep(0.1)
        self._log.flush()
        raise RuntimeError((self.folder / "lab.log").read_text(encoding="utf-8", errors="replace")[-2000:])


def _url_in(file: Path) -> str | None:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["url"])
    except (OSError, ValueError, KeyError):  # it is being written
        return None


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):
            return True
    except (URLError, OSError):
        return False


class NotebookPage:
    """A notebook that is open in a browser: its cells are run and looked at one by one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._until_ready()

    def run(self, index: int) -> str:
        """Runs one cell to its end and gives the text that it left."""
        self.start(index)
        return self.finished(index)

    def start(self, index: int) -> None:
        """Begins to run one cell, which may still be running afterwards."""
        self.page.evaluate(
            f"""(index) => {{
                const notebook = jupyterapp.{NOTEBOOK}.content;
                notebook.activeCellIndex = index;
                notebook.activeCell.model.executionCount = null;
                window.running = jupyterapp.commands.execute("notebook:run-cell");
            }}""",
            index,
        )

    def finished(self, index: int) -> str:
        """Waits until the cell that was started has ended, and gives the text that it left."""
        self.page.evaluate("async () => await window.running")
        return self.text(index)

    def save(self) -> None:
        """Writes the notebook with its outputs to disk."""
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")

    def reload(self) -> None:
        """Loads the page again; the kernel goes on."""
        self.page.reload()
        self._until_ready()

    def wear(self, theme: str) -> None:
        """Changes JupyterLab's theme."""
        self.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        self.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)

    def cell(self, index: int) -> Locator:
        """A cell, code and outputs."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def explorer(self, index: int) -> Locator:
        """The explorer that stands below a cell."""
        return self.cell(index).locator(".orkeon-explorer")

    def text(self, index: int) -> str:
        """What a cell has printed."""
        return "\n".join(self.cell(index).locator(".jp-OutputArea-output pre").all_inner_texts()).strip()

    def _until_ready(self) -> None:
        ready = f"() => window.jupyterapp?.{NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'"
        self.page.wait_for_function(ready, timeout=PATIENCE * 1000)
