"""A crew in one file and in many: the same crew, the same problems, each in its own file."""

import json
import os

import pytest

from orkeon_transitions.crew import layouts, load_crew
from orkeon_transitions.errors import CrewDefinitionError

MAIN = "name: tea\nprocess: sequential\n"
AGENTS = "cook: {role: Cook}\nchef: {role: Chef}\n"
TASKS = "boil: {description: Boil, agent: cook}\npour: {description: Pour, dependencies: [boil]}\n"
MANY = {
    "agents/chef.yaml": "role: Chef\n",
    "agents/cook.yml": "role: Cook\n",
    "tasks/1.yaml": TASKS,
}
LAYOUTS = {
    "one file": {"crew.yaml": MAIN + "agents:\n  cook: {role: Cook}\n  chef: {role: Chef}\n"
                 "tasks:\n  boil: {description: Boil, agent: cook}\n"
                 "  pour: {description: Pour, dependencies: [boil]}\n"},
    "files": {"crew.yaml": MAIN, "agents.yaml": AGENTS, "tasks.yaml": TASKS},
    "config": {"config.yml": MAIN, "agents.yml": AGENTS, "tasks.yml": TASKS},
    "folders": {"crew.yaml": MAIN, **MANY},
    "mixed": {"crew.yaml": MAIN + "agents: null\n", "agents.yaml": AGENTS, "tasks/1.yaml": TASKS},
    "agents inline": {"config.yaml": f"{MAIN}agents: {{cook: {{role: Cook}}, chef: {{role: Chef}}}}\n",
                      "tasks/1.yaml": TASKS},
    "wrapped": {"crew.yaml": MAIN, "agents.yaml": "agents: {cook: {role: Cook}, chef: {role: Chef}}\n",
                "tasks/x.yaml": "tasks: {boil: {description: Boil, agent: cook},"
                " pour: {description: Pour, dependencies: [boil]}}\n"},
}  # fmt: skip


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def problems_of(what, **options):
    with pytest.raises(CrewDefinitionError) as raised:
        load_crew(what, **options)
    return raised.value.problems


def places_of(folder, problems):
    return [(problem.file.removeprefix(f"{folder}/"), problem.line, problem.path) for problem in problems]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_the_same_crew(tmp_path, layout):
    crew = load_crew(put(tmp_path, LAYOUTS[layout]), strict=True)
    assert (crew.name, crew.findings) == ("tea", ())
    assert {agent.id: agent.role for agent in crew.agents.values()} == {"cook": "Cook", "chef": "Chef"}
    assert [(task.id, task.dependencies) for task in crew.tasks.values()] == [
        ("boil", ()),
        ("pour", ("boil",)),
    ]
    assert crew.config.folder == tmp_path.resolve()
    result = crew.run_sync(executor=lambda agent, task, context: f"{agent.role}: {task.description}")
    assert result.success
    assert result.tasks["boil"].output == "Cook: Boil"


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "one file"])
def test_the_main_file_stands_for_its_folder(tmp_path, layout):
    put(tmp_path, LAYOUTS[layout])
    (main,) = [tmp_path / name for name in LAYOUTS[layout] if name.startswith(("crew", "config"))]
    assert list(load_crew(main).tasks) == ["boil", "pour"]


def test_a_file_that_has_everything_is_a_crew_by_itself(tmp_path):
    put(tmp_path, {**LAYOUTS["one file"], "agents.yaml": "nonsense", "config.yaml": MAIN, "other.yaml": MAIN})
    assert list(load_crew(tmp_path / "crew.yaml").tasks) == ["boil", "pour"]
    # What is called otherwise never looks beside itself.
    messages = [problem.message for problem in problems_of(tmp_path / "other.yaml")]
    assert messages == [
        f"'{part}s' is missing: a crew needs at least one {part}" for part in ("agent", "task")
    ]


def test_a_pair_of_agents_and_tasks_is_a_crew_called_as_its_folder(tmp_path):
    folder = put(tmp_path / "poems", {"agents.yaml": "poet:\n  role: '{topic} poet'\n", "tasks.yaml":
        "write: {description: On {topic}, expected_output: A poem, agent: poet}\n".replace(
            "On {topic}", "'On {topic}'") + "read: {description: Read, context: [write]}\n"})  # fmt: skip
    crew = load_crew(folder)
    assert crew.name == "poems"
    assert crew.tasks["read"].dependencies == ("write",)
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync()
    assert places_of(folder, raised.value.problems) == [
        ("agents.yaml", 2, "agents.poet.role"),
        ("tasks.yaml", 1, "tasks.write.description"),
    ]


def test_the_folder_of_a_task_is_where_its_crew_is(tmp_path):
    files = {"crew.yaml": "mounts: ['./notes:/notes:ro']\n", **MANY, "notes/a.md": "x"}
    crew = load_crew(put(tmp_path, files))
    assert crew.mounts[0].host == tmp_path.resolve() / "notes"


def test_the_problems_of_all_files_come_at_once_each_with_its_file(tmp_path):
    files = {
        "crew.yaml": "name: 7\nprocess: graf\n",
        "agents.yaml": "cook: {role: [x]}\ncook2: {tools: [file_raed], backstroy: x}\n",
        "tasks/boil.yaml": "description: d\nagent: coook\nagent: cook\n",
        "tasks/pour.yaml": "\nexpectedOutput: e\n",
        "tasks/wash.yaml": "- a\n",
    }
    problems = problems_of(put(tmp_path, files), strict=True)
    assert places_of(tmp_path, problems) == [
        ("crew.yaml", 1, "name"),
        ("crew.yaml", 2, "process"),
        ("agents.yaml", 1, "agents.cook.role"),
        ("agents.yaml", 2, "agents.cook2.tools[0]"),
        ("agents.yaml", 2, "agents.cook2.backstroy"),
        ("tasks/boil.yaml", 2, "tasks.boil.agent"),
        ("tasks/boil.yaml", 3, "agent"),
        ("tasks/pour.yaml", 2, "tasks.pour"),
        ("tasks/wash.yaml", 1, "tasks.wash"),
    ]
    assert all(problem.column for problem in problems)


def test_files_that_cannot_be_read_are_told_together_and_nothing_is_made_up(tmp_path):
    files = {
        "crew.yaml": "name: [\n",
        "agents/cook.yaml": "role: [\n",
        "agents/chef.yaml": "role: 7\n",
        "tasks.yaml": "x: " + "y" * 1_000_001,
    }
    problems = problems_of(put(tmp_path, files))
    files = [place[0] for place in places_of(tmp_path, problems)]
    assert sorted(files) == ["agents/chef.yaml", "agents/cook.yaml", "crew.yaml", "tasks.yaml"]
    assert any("1 MB" in problem.message for problem in problems)


def test_what_a_main_file_that_cannot_be_read_may_say_is_not_missed(tmp_path):
    tasks = "boil: {description: d, agent: nobody, deliverable: /out/a.md, tools: [file_raed]}\n"
    problems = problems_of(put(tmp_path, {"crew.yaml": "mounts: [\n", "tasks.yaml": tasks}))
    assert [problem.path for problem in problems] == ["", "tasks.boil.tools[0]"]


def test_an_empty_name_is_not_the_folder_that_we_are_in(tmp_path, monkeypatch):
    monkeypatch.chdir(put(tmp_path, LAYOUTS["files"]))
    assert load_crew(".").name == "tea"
    (problem,) = problems_of("")
    assert problem.message == "an empty name is no crew"


def test_a_main_file_that_is_no_mapping_is_said(tmp_path):
    (problem,) = problems_of(put(tmp_path, {"crew.yaml": "- a\n", **MANY}))
    assert problem.message == "a crew must be a mapping, not a list"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"crew.yaml": MAIN, "config.yaml": MAIN, **MANY}, "both 'crew.yaml' and 'config.yaml' are here"),
        ({"crew.yaml": MAIN, "crew.yml": MAIN, **MANY}, "both 'crew.yaml' and 'crew.yml' are here"),
        ({"crew.yaml": MAIN, "agents.yaml": AGENTS, **MANY}, "both 'agents.yaml' and 'agents/' are here"),
        ({"crew.yaml": MAIN, "tasks.yaml": TASKS, **MANY}, "both 'tasks.yaml' and 'tasks/' are here"),
        ({"crew.yaml": f"{MAIN}agents: {{cook: {{}}}}\n", **MANY}, "'agents' stands here and in 'agents/'"),
        ({"crew.yaml": MAIN, "agents.yaml": AGENTS}, "'tasks' is missing"),
        ({"crew.yaml": MAIN, "tasks.yaml": "a: {description: d}\n"}, "'agents' is missing"),
        ({"crew.yaml": MAIN, "agents/a.txt": "", "tasks.yaml": "a: {description: d}\n"}, "agents: is empty"),
        ({"agents.yaml": AGENTS}, "no 'crew.yaml' or 'config.yaml', no 'tasks.yaml' or 'tasks/'"),
        (MANY, "is a folder without a crew: there is no 'crew.yaml' or 'config.yaml'"),
        ({"readme.md": ""}, "no 'agents.yaml' or 'agents/', no 'tasks.yaml' or 'tasks/'"),
        ({"crew.yaml": MAIN, **MANY, "agents/two.yaml": "cook: {role: x}\n"},
         "'cook' stands in 'cook.yml' already"),
        ({"crew.yaml": MAIN, **MANY, "agents/two.yaml": "x:\n"}, "agents.x: must be a mapping, not null"),
        ({"crew.yaml": MAIN, **MANY, "agents/two.yaml": "agents: [x]\n"}, "must be a mapping, not a list"),
        ({"crew.yaml": MAIN, "tasks.yaml": TASKS, "agents.yaml": "agents: {cook: {}}\nname: x\n"},
         "'name' stands beside 'agents'"),
        ({"crew.yaml": MAIN, "tasks.yaml": TASKS, "agents.yaml": "- cook\n"},
         "must be a mapping of agent ids"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_whole_crew_is_said(tmp_path, files, message):
    (problem,) = problems_of(put(tmp_path, files))
    assert message in str(problem)
    assert problem.file.startswith(str(tmp_path))


@pytest.mark.parametrize("below", ["config", "src/tea/config"])
def test_a_project_is_the_crew_in_it(tmp_path, below):
    project = put(tmp_path / "tea", {f"{below}/agents.yaml": AGENTS, f"{below}/tasks.yml": TASKS})
    crew = load_crew(project)
    assert (crew.name, [*crew.tasks]) == ("tea", ["boil", "pour"])
    assert crew.config.folder == (project / below).resolve()
    assert crew.source == str(project.absolute())


def test_a_project_with_several_crews_is_refused_by_their_names(tmp_path):
    for below in ("src/one/config", "src/two/config"):
        put(tmp_path, {f"{below}/agents.yaml": AGENTS, f"{below}/tasks.yaml": TASKS})
    (problem,) = problems_of(tmp_path)
    assert problem.message.startswith("has several pairs: name one of ")
    put(tmp_path, {"agents.yaml": AGENTS, "tasks.yaml": TASKS})
    assert load_crew(tmp_path).config.folder == tmp_path.resolve()  # a crew of its own is what it is


def test_folders_within_are_a_warning_and_other_files_are_left_alone(tmp_path):
    files = {
        "crew.yaml": MAIN,
        **MANY,
        "agents/team/x.yaml": "role: x\n",
        "agents/.x.yaml/y": "",
        "tasks/a.md": "",
    }
    (finding,) = load_crew(put(tmp_path, files)).findings
    assert (finding.severity, finding.code) == ("warning", "not-read")
    assert finding.message == "the folder 'team' is not read: 'agents/' has files only"
    assert (finding.file, finding.line) == (str(tmp_path / "agents"), None)


def test_hidden_files_are_no_members_and_a_suffix_may_be_in_capitals(tmp_path):
    many = {"agents/Chef.YAML": "role: Chef\n", "agents/cook.yaml": "role: Cook\n", "tasks/1.yml": TASKS}
    put(tmp_path, {"crew.yaml": MAIN, **many, "agents/._cook.yaml": "\0"})
    (tmp_path / "agents/.#cook.yaml").symlink_to("whoever@edits.it")
    assert list(load_crew(tmp_path).agents) == ["Chef", "cook"]


@pytest.mark.parametrize(
    "name", ["crew.yaml", "agents.yaml", "tasks.yaml", "agents/cook.yml", "tasks/1.yaml"]
)
@pytest.mark.parametrize("kind", ["broken link", "link to itself", "pipe", "link to a device"])
def test_what_has_the_name_of_a_file_and_is_none_is_said(tmp_path, name, kind):
    folder = put(tmp_path, LAYOUTS["folders" if "/" in name else "files"])
    path = folder / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"broken link": "nowhere", "link to itself": path.name}.get(kind, "/dev/zero"))
    (problem,) = problems_of(folder)
    message = "is no plain file" if kind in {"pipe", "link to a device"} else "is a link that leads nowhere"
    assert (problem.file, problem.message) == (str(path), message)


@pytest.mark.parametrize("closed", [".", "agents"])
def test_a_folder_that_may_not_be_entered_is_said(tmp_path, monkeypatch, closed):
    folder = put(tmp_path, {"crew.yaml": MAIN, "agents/cook.yml": "role: Cook\n", "tasks/1.yaml": TASKS})
    refused = f"{folder}/" if closed == "." else str(folder / closed / "cook.yml")
    real, real_open = os.stat, layouts.Path.open

    def refuse(path):
        if str(path).startswith(refused):
            raise PermissionError(13, "Permission denied")

    def stat(path, **options):
        refuse(path)
        return real(path, **options)

    def opened(path, mode):
        refuse(path)
        return real_open(path, mode)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(layouts.Path, "open", opened)
    (problem,) = problems_of(folder)
    monkeypatch.undo()
    where = str(folder) if closed == "." else refused
    assert (problem.file, problem.message) == (where, "cannot be read: Permission denied")


def test_a_folder_that_may_not_be_read_is_said(tmp_path, monkeypatch):
    put(tmp_path, {"crew.yaml": MAIN, **MANY})
    real = layouts.Path.iterdir

    def refuse(path):
        if path.name == "agents":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(layouts.Path, "iterdir", refuse)
    (problem,) = problems_of(tmp_path)
    assert (problem.file, problem.message) == (str(tmp_path / "agents"), "cannot be read: Permission denied")


def test_each_file_has_one_note_of_what_it_carries(tmp_path):
    files = {
        "crew.yaml": MAIN + "verbose: true\nmemory: true\n",
        "agents.yaml": "cook: {cache: 3}\nchef: {cache: 4, verbose: true}\n",
        "tasks/boil.yaml": "description: d\npriority: 1\n",
        "tasks/pour.yaml": "description: d\n",
    }
    notes = load_crew(put(tmp_path, files)).findings
    assert [(note.file.removeprefix(f"{tmp_path}/"), note.line, note.message) for note in notes] == [
        ("agents.yaml", 1, "carried, not acted on: cache, verbose"),
        ("tasks/boil.yaml", 2, "carried, not acted on: priority"),
        ("crew.yaml", 3, "carried, not acted on: verbose, memory"),
    ]
    assert str(notes[1]).startswith(f"{tmp_path}/tasks/boil.yaml:2: note: tasks.boil.priority: carried")


# case G01
@pytest.mark.parametrize("layout", ["files", "folders"])
def test_a_cycle_over_several_files_has_its_path_and_place(tmp_path, layout):
    tasks = {"a": ["b"], "b": ["c"], "c": ["a"], "d": []}
    bodies = {name: json.dumps({"description": "d", "dependencies": needs}) for name, needs in tasks.items()}
    if layout == "files":
        files = {"tasks.yaml": "".join(f"{name}: {body}\n" for name, body in bodies.items())}
    else:
        files = {f"tasks/{name}.yaml": f"{body}\n" for name, body in bodies.items()}
    (problem,) = problems_of(put(tmp_path, {"crew.yaml": MAIN, "agents.yaml": AGENTS, **files}))
    assert problem.message == "tasks wait for each other: a -> b -> c -> a"
    assert (problem.line, problem.path) == (1, "tasks.a.dependencies")


# case G05
@pytest.mark.parametrize(
    ("text", "name", "looks"),
    [
        ("initial: a\nstates: [a]\ntransitions: []\n", "m.yaml", "looks like a machine"),
        ("states: [a]\n", "crew.yaml", "looks like a machine"),
        ("name: x\ntitle: Y\n", "usecase.yaml", "looks like the description of a use case"),
        ("useCase: x\nname: y\n", "x.yaml", "looks like the description of a use case"),
        (AGENTS, "agents.yaml", "looks like the agents of a crew: name its folder"),
        (TASKS, "tasks.yaml", "looks like the tasks of a crew"),
        ("role: x\n", "cook.yaml", "looks like one agent of a crew: name the crew's folder"),
        ("description: d\nexpectedOutput: e\n", "t.yaml", "looks like one task of a crew"),
        ("a: {role: x}\nb: {expected_output: y}\n", "x.yaml", "the keys here are a, b"),
        (
            "name: x\ngoal: y\n",
            "crew.yaml",
            "a crew has 'agents' and 'tasks', and the keys here are name, goal",
        ),
        ("".join(f"k{n}: 1\n" for n in range(9)), "x.yaml", "k0, k1, k2, k3, k4, k5, k6, k7, ..."),
        ("crew: other.yaml\nx: 1\n", "x.yaml", None),
        ("agent: {a: {role: x}}\ntask: {t: {description: d}}\n", "crew.yaml", None),
    ],
)
def test_what_is_no_crew_is_refused_with_what_it_looks_like(tmp_path, text, name, looks):
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / name
    path.write_text(text)
    problems = problems_of(path)
    if looks is None:
        assert {problem.message.split(":")[0] for problem in problems} == {
            "'agents' is missing",
            "'tasks' is missing",
        }
        return
    (problem,) = problems
    assert problem.message.startswith("is no crew: ")
    assert looks in problem.message
    assert (problem.line, problem.column) == (1, 1)
