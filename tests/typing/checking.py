"""Runs mypy, strict, in a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def mypy(*files):
    """What mypy says of these files."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--no-error-summary", "--show-error-codes", "--enable-error-code", "comparison-overlap"]
    done = subprocess.run([*command, *map(str, files)], cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
