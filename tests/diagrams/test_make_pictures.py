"""The README's pictures can be made again."""

import shutil
import subprocess
import sys

import pytest

from tests.diagrams.pictures import PNG_BEGINS
from tests.make_pictures import FOLDER, make_pictures

EXPLORER = {"explorer_light.png", "explorer_dark.png"}


def test_the_pictures_of_the_readme_are_those_that_the_script_draws(tmp_path):
    made = make_pictures(tmp_path / "pictures")
    assert {path.name for path in made} | EXPLORER == {path.name for path in FOLDER.iterdir()}
    for path in [*made, *FOLDER.iterdir()]:
        assert path.read_bytes().startswith(PNG_BEGINS)
        assert path.stat().st_size < 151_000


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_script_photographs_the_explorer_in_light_and_dark(tmp_path):
    pytest.importorskip("playwright", reason="playwright is not installed")
    if shutil.which("chromium") is None:
        pytest.skip("there is no Chromium; on Debian: apt-get install chromium")
    command = [sys.executable, "-m", "tests.make_pictures", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=FOLDER.parents[2])
    assert done.returncode == 0, done.stderr
    light, dark = ((tmp_path / name).read_bytes() for name in sorted(EXPLORER, reverse=True))
    assert light.startswith(PNG_BEGINS)
    assert light != dark
    assert max(len(light), len(dark)) < 151_000
