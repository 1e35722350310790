"""The test class of seed 004, as it stands in the seed's text, on our agent.

The seeds are not part of the package: `ORKEON_SEEDS` names their folder, by default `../shared/seeds` beside
the project. Without it there is nothing to run here.
"""

import os
import re
import textwrap
from pathlib import Path

import pytest

from orkeon_transitions.machines import HermesAgentFSM

ROOT = Path(__file__).parents[2]
SEEDS = Path(os.environ.get("ORKEON_SEEDS", ROOT / ".." / "shared" / "seeds"))
CLASS = re.compile(r"^class TestHermesAgentFSM:\n(?:(?:[ \t].*)?\n)+", re.MULTILINE)


def seed_tests():
    for path in sorted(SEEDS.glob("004_*.txt")):
        if found := CLASS.search(path.read_text(encoding="utf-8")):
            names = {"pytest": pytest, "HermesAgentFSM": HermesAgentFSM}
            exec(textwrap.dedent(found[0]), names)
            return names["TestHermesAgentFSM"]
    return None


SEED_CLASS = seed_tests()
SEED_NAMES = [name for name in vars(SEED_CLASS or object) if name.startswith("test_")]


@pytest.mark.skipif(SEED_CLASS is None, reason="the seeds are not here: ORKEON_SEEDS may name their folder")
def test_the_seed_has_its_tests():
    assert len(SEED_NAMES) == 6


@pytest.mark.parametrize("name", SEED_NAMES)
def test_the_seeds_own_test_passes(name):
    case = SEED_CLASS()
    case.setup_method()
    getattr(case, name)()
