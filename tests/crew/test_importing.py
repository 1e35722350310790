import pytest

from orkeon_transitions.crew import load_crew, tool
from orkeon_transitions.crew.importing import import_crewai
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError

AGENTS = """\
# The researchers.
researcher:
  role: >
    {topic} Researcher   # no comment
  goal: Find out about {topic}
  backstory: |
    You know
      a lot.
  verbose: true
  tags:
  - one
  - two

  # The last one.
writer:
  role: "Writer"
  goal: 'Write'
  backstory: Writes.
  allow_delegation: false
"""
TASKS = """\
---
research:
  description: >
    Research {topic}
    in {current_year}.
  expected_output: A list   # of ten
  agent: researcher
  async_execution: true
  markdwon: true
report:
  description: Report
  expected_output: A report
  agent: writer
  context:
    - research
  output_file: out/report.md
"""


@pytest.fixture
def pair(tmp_path):
    def write(agents=AGENTS, tasks=TASKS, below="."):
        folder = tmp_path / "my_crew" / below
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "agents.yaml").write_text(agents)
        (folder / "tasks.yaml").write_text(tasks)
        return tmp_path / "my_crew"

    return write


def test_the_file_reads_as_the_pair_was_written(pair):
    imported = import_crewai(pair())
    assert (
        imported.text
        == """\
# From CrewAI's agents.yaml and tasks.yaml.
# Without effect here, and so switched off: verbose, tags, markdwon.
# Each output_file lies below the folder that is mounted beside this file; the pair writes it beside itself.
name: my_crew
process: sequential
mounts: ['./output:/output:rw']

agents:
  # The researchers.
  researcher:
    role: >
      {topic} Researcher   # no comment
    goal: Find out about {topic}
    backstory: |
      You know
        a lot.
    # verbose: true
    # tags:
    # - one
    # - two

    # The last one.
  writer:
    role: "Writer"
    goal: 'Write'
    backstory: Writes.
    allow_delegation: false

tasks:

  research:
    description: >
      Research {topic}
      in {current_year}.
    expected_output: A list   # of ten
    agent: researcher
    async_execution: true
    # markdwon: true
  report:
    description: Report
    expected_output: A report
    agent: writer
    context:
      - research
    output_file: out/report.md
"""
    )
    assert imported.notes == ("without effect here: verbose, tags, markdwon",)
    assert load_crew(imported.text, strict=True).findings == ()


def test_it_does_what_the_pair_does(pair, tmp_path):
    folder = pair()
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "mine.yaml").write_text(import_crewai(folder).text)
    inputs = {"topic": "AI", "current_year": 2026}
    ran = []
    for what in (folder, tmp_path / "apart" / "mine.yaml"):
        asked = []

        def work(agent, task, context, asked=asked):
            asked.append((agent.role, task.description, task.expected_output, list(context.earlier)))
            return f"the output of {task.id}"

        result = load_crew(what).run_sync(inputs, executor=work)
        ran.append((result.status, result.output, asked, result.crew))
        assert result.success
    assert ran[0] == ran[1]
    for place in (folder, tmp_path / "apart"):
        assert (place / "output" / "out" / "report.md").read_text() == "the output of report"


@pytest.mark.parametrize("below", ["config", "src/my_crew/config"])
def test_the_pair_is_found_in_a_project(pair, below):
    project = pair(below=below)
    imported = import_crewai(project)
    assert "name: my_crew\n" in imported.text
    assert {file.parent for file in imported.files} == {project / below}


def test_what_the_program_of_a_project_says_is_not_known(pair):
    project = pair(below="src/my_crew/config")
    (project / "src" / "my_crew" / "crew.py").write_text("")
    (note, _) = sorted(import_crewai(project).notes)
    assert note.startswith("'crew.py' is not read: the process, tools and callbacks")


def test_tools_get_our_names(pair):
    agents = (
        "a:\n  role: A\n  tools: [FileReadTool, 'DirectoryReadTool', file_write]  # ours\n"
        'b:\n  role: B\n  tools:\n    - "FileWriterTool"\n'
    )
    imported = import_crewai(pair(agents, "t:\n  description: d\n  tools: FileReadTool\n"))
    assert "    tools: [file_read, 'directory_read', file_write]  # ours\n" in imported.text
    assert '      - "file_write"\n' in imported.text
    assert "    tools: file_read\n" in imported.text
    assert imported.notes == ()
    assert load_crew(imported.text).findings == ()


def test_a_program_s_own_tools_may_be_named(pair):
    @tool
    def look_up(word: str) -> str:
        """Looks a word up."""
        return word

    folder = pair("a:\n  role: A\n  tools: [look_up]\n", "t:\n  description: d\n")
    assert "tools: [look_up]" in import_crewai(folder, tools=[look_up]).text
    with pytest.raises(CrewDefinitionError, match="unknown tool 'look_up'"):
        import_crewai(folder)


@pytest.mark.parametrize(
    ("agents", "tasks"),
    [
        ("a: {role: A, verbose: true}  # one line\n", "t: {description: d}\n"),
        ("{a: {role: A}}  # one line\n", "t: {description: d}\n"),
        ("a:\n  # nothing else\n  verbose: true\n", "t:\n  description: d\n"),
        ("%YAML 1.1\n---\na:\n  role: A # x\n", "t:\n  description: d\n"),
        ("a:\n  role: A # x\n...\n", "t:\n  description: d\n"),
    ],
)
def test_what_is_written_in_another_way_is_written_anew_without_comments(pair, agents, tasks):
    folder = pair(agents, tasks)
    imported = import_crewai(folder)
    written = load_crew(imported.text)
    assert written.findings == ()
    assert list(written.agents) == ["a"]
    if "#" in imported.text.partition("\nagents")[2]:
        assert not any("comments are left out" in note for note in imported.notes)
    else:
        assert any("comments are left out" in note for note in imported.notes)


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_wrapped_pairs_and_other_line_ends(pair, ends):
    agents = ends.join(["# Ours", "agents:", "  a:", "    role: A", "    verbose: true"])
    folder = pair(tasks="tasks:\n  t:\n    description: d\n")
    (folder / "agents.yaml").write_bytes(b"\xef\xbb\xbf" + agents.encode())
    text = import_crewai(folder).text
    assert "# Ours\nagents:\n  a:\n    role: A\n    # verbose: true\n" in text
    assert load_crew(text).findings == ()


def test_anchors_of_yaml_stay(pair):
    agents = "a: &one\n  role: A\n  backstory: b\n  verbose: true\nb:\n  <<: *one\n  role: B\n"
    text = import_crewai(pair(agents, "t:\n  description: d\n")).text
    crew = load_crew(text)
    assert crew.findings == ()
    assert (crew.agents["b"].role, crew.agents["b"].backstory) == ("B", "b")


def test_what_is_no_pair_is_refused(tmp_path, pair):
    with pytest.raises(CrewDefinitionError, match=r"has no 'agents\.yaml' and 'tasks\.yaml'"):
        import_crewai(tmp_path)
    with pytest.raises(CrewDefinitionError, match=r"has no 'agents\.yaml'"):
        import_crewai(tmp_path / "nowhere")
    pair(below="src/one/config")
    project = pair(below="src/two/config")
    with pytest.raises(CrewDefinitionError, match="has several pairs"):
        import_crewai(project)
    (project / "src" / "two" / "config" / "crew.yaml").write_text("name: x\n")
    with pytest.raises(CrewDefinitionError, match=r"has a 'crew.yaml': it is a crew of ours already"):
        import_crewai(project / "src" / "two" / "config")


def test_what_is_wrong_with_a_pair_is_told_as_ever(pair):
    with pytest.raises(CrewDefinitionError) as raised:
        import_crewai(pair(tasks="t:\n  description: d\n  agent: reseacher\n"))
    (problem,) = raised.value.problems
    assert (problem.line, problem.hint) == (3, "researcher")
    assert problem.file.endswith("tasks.yaml")


def test_what_cannot_be_said_in_one_file_is_said(pair, monkeypatch):
    monkeypatch.setattr("orkeon_transitions.crew.importing._is_same", lambda *_: False)
    with pytest.raises(OrkeonError, match="cannot be written as one file"):
        import_crewai(pair())


def test_a_warning_that_stays_is_told(pair):
    folder = pair("Cook:\n  role: A\ncook:\n  role: B\n", "t:\n  description: d\n")
    (note,) = import_crewai(folder).notes
    assert note == "agents.cook: 'cook' and 'Cook' differ only in case or blanks"
