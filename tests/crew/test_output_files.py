import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import CrewDefinitionError
from tests.crew.crew_texts import problems_of

CREW = "agents:\n  a: {{role: A}}\ntasks:\n  t: {{description: d, {key}: {file!r}}}\n"


def text(file, head="", key="output_file"):
    return head + CREW.format(key=key, file=file)


def written(folder, file, head="", **inputs):
    (folder / "crew.yaml").write_text(text(file, head))
    result = load_crew(folder / "crew.yaml").run_sync(inputs, executor=lambda *_: "the output")
    return result.tasks["t"]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


@pytest.mark.parametrize(
    ("head", "where"),
    [
        ("", "output/report.md"),
        ('mounts: ["./in:/in:ro"]\n', "output/report.md"),
        ('mounts: ["./code:/code:rw"]\n', "code/report.md"),
        ('mounts: ["./code:/code:rw", "./made:/output:rw"]\n', "made/report.md"),
    ],
)
def test_it_lies_below_the_folder_for_output(tmp_path, head, where):
    assert written(tmp_path, "report.md", head).success
    assert files(tmp_path) == [where]
    assert (tmp_path / where).read_text() == "the output"


def test_folders_on_the_way_are_made_and_placeholders_filled(tmp_path):
    assert written(tmp_path, "{topic}/on-{my-topic}.md", topic="a/b", **{"my-topic": "c"}).success
    assert files(tmp_path) == ["output/a/b/on-c.md"]


def test_without_such_a_task_nothing_is_mounted():
    crew = load_crew("agents:\n  a: {role: A}\ntasks:\n  t: {description: d}\n")
    assert crew.mounts == ()
    assert [mount.virtual for mount in load_crew(text("x.md")).mounts] == ["/output"]


@pytest.mark.parametrize("file", ["../x.md", "a/../../x.md", "/etc/passwd", "/x.md", "/outputs/x.md", "/"])
def test_what_leads_elsewhere_is_refused_at_its_place(file):
    (problem,) = problems_of(text(file))
    assert (problem.path, problem.line) == ("tasks.t.output_file", 4)
    assert "/output" in problem.message


@pytest.mark.parametrize("file", ["~/x.md", "$HOME/x.md", "reports/"])
def test_what_is_no_file_there_is_refused(file):
    (problem,) = problems_of(text(file, key="outputFile"))
    assert problem.path == "tasks.t.outputFile"
    assert "name a file below '/output'" in problem.message


def test_a_path_that_begins_with_the_folder_is_one_in_it(tmp_path):
    assert written(tmp_path, "/output/x.md").success
    assert files(tmp_path) == ["output/x.md"]


def test_a_folder_that_may_only_be_read_is_none_for_output():
    (problem,) = problems_of(text("x.md", 'mounts: ["./in:/output:ro"]\n'))
    assert "there is no mount with ':rw'" in problem.message


@pytest.mark.parametrize("topic", ["../../elsewhere", "/../elsewhere"])
def test_an_input_leads_nowhere_else(tmp_path, topic):
    with pytest.raises(CrewDefinitionError, match="may not be used"):
        written(tmp_path, "{topic}.md", topic=topic)
    assert not list(tmp_path.parent.rglob("elsewhere.md"))


def test_an_absolute_input_stays_below_the_folder(tmp_path):
    assert written(tmp_path, "{topic}.md", topic="/etc/x").success
    assert files(tmp_path) == ["output/etc/x.md"]


@pytest.mark.parametrize("link", ["x.md", "sub"])
def test_a_link_leads_nowhere_else(tmp_path, link):
    outside, inside = tmp_path / "outside", tmp_path / "crew" / "output"
    outside.mkdir()
    inside.mkdir(parents=True)
    (outside / "x.md").write_text("theirs")
    (inside / link).symlink_to(outside / "x.md" if link == "x.md" else outside)
    task = written(tmp_path / "crew", "x.md" if link == "x.md" else "sub/x.md")
    assert str(task.status) == "failed"
    assert (outside / "x.md").read_text() == "theirs"


def test_a_task_has_one_file():
    (problem,) = problems_of(
        'mounts: ["./o:/output:rw"]\nagents:\n  a: {role: A}\n'
        "tasks:\n  t: {description: d, output_file: x.md, deliverable: /output/x.md}\n"
    )
    assert problem.message == "stands beside 'deliverable': a task has one file"


def test_missing_inputs_are_all_named_at_once_with_their_places():
    crew = load_crew(
        "agents:\n  a: {role: '{one}', goal: '{two}', backstory: '{three}'}\n"
        "tasks:\n  t:\n    description: '{four}'\n    expected_output: '{five-and-a-half}'\n"
        "    output_file: 'x/{six}.md'\n"
    )
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync({})
    assert [(problem.message, problem.line) for problem in raised.value.problems] == [
        ("the input 'one' is missing", 2),
        ("the input 'two' is missing", 2),
        ("the input 'three' is missing", 2),
        ("the input 'four' is missing", 5),
        ("the input 'five-and-a-half' is missing", 6),
        ("the input 'six' is missing", 7),
    ]
    assert raised.value.problems[-1].path == "tasks.t.output_file"
