"""Where a run's deliverables are on this computer."""

import pytest

from orkeon_transitions.cli.deliverables import Deliverables
from orkeon_transitions.crew import load_crew

CREW = """\
agents: {a: {role: A, tools: [file_write]}}
mounts: ["./out:/out:rw", "./deep:/out/deep:rw"]
tasks:
  one: {description: Do it, agent: a, deliverable: %s}
"""


@pytest.fixture
def deliverables(folder):
    def make(path, **inputs):
        (folder / "crew.yaml").write_text(CREW % path)
        return Deliverables(load_crew(folder / "crew.yaml"), inputs)

    return make


@pytest.mark.parametrize(
    ("virtual", "host"),
    [("/out/a.md", "out/a.md"), ("/out/b/a.md", "out/b/a.md"), ("/out/deep/a.md", "deep/a.md")],
)
def test_the_innermost_mount_holds_the_file(deliverables, folder, virtual, host):
    made = deliverables(virtual)
    assert made.written("one") is None
    (folder / host).parent.mkdir(parents=True, exist_ok=True)
    (folder / host).write_text("done")
    assert made.written("one") == folder / host


def test_a_file_that_was_there_before_counts_only_when_it_changed(deliverables, folder):
    (folder / "out").mkdir()
    (folder / "out" / "a.md").write_text("old")
    made = deliverables("/out/a.md")
    assert made.written("one") is None
    (folder / "out" / "a.md").write_text("new!")
    assert made.written("one") == folder / "out" / "a.md"


def test_what_cannot_be_placed_is_no_file(deliverables):
    assert deliverables('"/out/{name}.md"').written("one") is None
    assert deliverables("/out/a.md").written("another task") is None
    assert deliverables('"/out/{where}"', where="../secret.md").written("one") is None
