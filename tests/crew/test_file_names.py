"""A file that cannot have its name is refused before anybody is asked, and paid."""

import pytest

from orkeon_transitions.crew import MemoryRunLog, load_crew
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError
from tests.crew.scripted import ScriptedModel

CREW = """\
mounts: ["{folder}:/out:rw"]
agents: {{a: {{}}}}
tasks:
  first: {{description: d, agent: a}}
  t: {{description: d, agent: a, {key}: "{file}"}}
"""


@pytest.fixture
def crew(tmp_path):
    def make(file, key="deliverable"):
        return load_crew(CREW.format(folder=tmp_path / "out", file=file, key=key))

    return make


def refused(crew, **inputs):
    model = ScriptedModel("done")
    log = MemoryRunLog()
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync(inputs, model=model, run_log=log, run_id="r")
    assert model.asked == []
    with pytest.raises(OrkeonError):
        log.read("r")
    (problem,) = raised.value.problems
    assert problem.line == 5
    return problem


@pytest.mark.parametrize("key", ["deliverable", "output_file", "outputFile"])
def test_its_place_is_where_it_is_written(crew, key):
    problem = refused(crew("/out/{topic}/x.md", key), topic="..")
    assert problem.path == ("tasks.t.deliverable" if key == "deliverable" else "tasks.t.output_file")


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("../evil", "the file would be '/out/../evil.md', and '..' may not be used"),
        ("a/../../b", "'..' may not be used"),
        ("two\nlines", "would have the character U+000A in it: 'two\\nlines.md'"),
        ("bell\x07", "U+0007"),
        ("null\0", "U+0000"),
        ("escape\x1b[31m", "U+001B"),
        ("line\u2028", "U+2028"),
        ("half\ud800", "U+D800"),
        ("x" * 300, "the name of the file has 303 bytes, and may have 255"),
        ("ü" * 130, "has 263 bytes"),
    ],
)
def test_what_an_input_makes_of_a_name(crew, topic, why):
    assert why in refused(crew("/out/{topic}.md"), topic=topic).message


@pytest.mark.parametrize("topic", ["", ".", "a/", "a/."])
def test_a_folder_is_no_file(crew, topic):
    assert refused(crew("/out/{topic}"), topic=topic).message.endswith("which is a folder")


def test_a_name_that_is_too_long_as_it_is_written(crew):
    assert "has 300 bytes" in refused(crew(f"/out/{'x' * 300}/report.md")).message


@pytest.mark.parametrize(
    "topic", ["plain", "with space", "2026/may", "Grüße", "a.b", "x" * 252, 7, "emoji 🎉"]
)
def test_other_names_are_written(crew, tmp_path, topic):
    assert crew("/out/{topic}.md").run_sync({"topic": topic}, model=ScriptedModel("done")).success
    assert (tmp_path / "out" / f"{topic}.md").read_text() == "done"


def test_an_input_that_goes_into_no_name_may_be_what_it_likes(crew):
    assert crew("/out/report.md").run_sync({"topic": "a/b\n"}, model=ScriptedModel("done")).success
