"""The explorer in a real JupyterLab, in a real browser: one machine, moved from both sides."""

import re

import pytest

from tests.explorer.browser.accessibility import violations
from tests.explorer.browser.jupyter_lab import Lab, NotebookPage

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(180)]

EXPLORE = """
from orkeon_transitions import TaskExecution
from orkeon_transitions.explorer import explore

fsm = TaskExecution(max_tool_calls_per_round=1)
explore(fsm)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("jupyter"))
    yield lab
    lab.close()


@pytest.fixture
def open_notebook(lab, chromium, request):
    """Opens a notebook of these cells in a page of its own, which must not complain nor ask anybody else."""

    def opening(*cells):
        name = lab.write(f"{request.node.originalname}.ipynb", *cells)
        return NotebookPage(chromium.open(lab.address(name), width=1280))

    return opening


def state_of(explorer):
    return explorer.locator(".ork-state-name")


def trigger(explorer, name):
    return explorer.locator(f"[data-trigger={name}]")


def current_in_picture(explorer):
    return explorer.locator("[data-part].ork-current")


def test_a_click_moves_the_machine_and_a_cell_moves_the_picture(open_notebook):
    notebook = open_notebook(
        EXPLORE, "print(fsm.state)", 'fsm.request_tool_call(tool="search")', "print(fsm.state)"
    )
    notebook.run(0)
    explorer = notebook.explorer(0)
    expect(state_of(explorer)).to_have_text("assigned")

    trigger(explorer, "begin_execution").click()
    expect(state_of(explorer)).to_have_text("executing")
    assert notebook.run(1) == "executing"

    notebook.run(2)
    expect(state_of(explorer)).to_have_text("tool_calling")
    expect(current_in_picture(explorer)).to_have_attribute("data-part", re.compile("state-tool_calling$"))
    trigger(explorer, "tool_call_completed").click()
    expect(state_of(explorer)).to_have_text("executing")
    assert notebook.run(3) == "executing"


def test_a_refusal_says_why_before_it_is_tried_and_after(open_notebook):
    notebook = open_notebook(
        EXPLORE, 'fsm.begin_execution(); fsm.request_tool_call(tool="search"); fsm.tool_call_completed()'
    )
    notebook.run(0)
    notebook.run(1)
    explorer = notebook.explorer(0)
    used_up = trigger(explorer, "request_tool_call")
    expect(used_up).to_have_attribute("aria-disabled", "true")
    used_up.hover()
    expect(explorer.get_by_role("tooltip")).to_contain_text("Tool call within the round's budget")

    used_up.click(force=True)  # it can be tried all the same
    refused = explorer.locator(".ork-log tbody tr[data-kind=refused]")
    expect(refused).to_contain_text("can_call_tool")
    expect(state_of(explorer)).to_have_text("executing")


def test_an_async_machine_of_the_notebook_s_own_loop(open_notebook):
    notebook = open_notebook(
        """
        from orkeon_transitions.explorer import explore
        from orkeon_transitions.machines import AsyncTaskExecution

        fsm = AsyncTaskExecution()
        explore(fsm)
        """,
        "await fsm.begin_execution()\nprint(fsm.state)",
        "print(fsm.state)",
    )
    notebook.run(0)
    explorer = notebook.explorer(0)
    assert notebook.run(1) == "executing"
    expect(state_of(explorer)).to_have_text("executing")
    trigger(explorer, "submit_for_validation").click()
    expect(state_of(explorer)).to_have_text("validating")
    assert notebook.run(2) == "validating"


def test_the_page_follows_a_cell_while_it_runs(open_notebook, lab):
    notebook = open_notebook(
        EXPLORE,
        """
        import time
        from pathlib import Path

        fsm.begin_execution()
        while not Path("go-on").exists():
            time.sleep(0.05)
        fsm.fail()
        """,
    )
    notebook.run(0)
    explorer = notebook.explorer(0)
    notebook.start(1)
    expect(state_of(explorer)).to_have_text("executing")
    (lab.notebooks / "go-on").touch()
    notebook.finished(1)
    expect(state_of(explorer)).to_have_text("failed")


def test_a_page_that_is_loaded_again_shows_how_things_stand(open_notebook):
    notebook = open_notebook(EXPLORE, "fsm.begin_execution()\nprint(fsm.state)")
    notebook.run(0)
    notebook.save()
    assert notebook.run(1) == "executing"
    notebook.reload()
    expect(state_of(notebook.explorer(0))).to_have_text("executing")
    trigger(notebook.explorer(0), "fail").click()
    expect(state_of(notebook.explorer(0))).to_have_text("failed")


def test_two_views_of_one_explorer_agree_and_two_explorers_do_not_meet(open_notebook):
    notebook = open_notebook(
        'from orkeon_transitions.explorer import explore\nview = explore("task_execution")\nview',
        "view",
        'explore("task_execution")',
    )
    for index in range(3):
        notebook.run(index)
    first, second, other = map(notebook.explorer, range(3))
    trigger(second, "begin_execution").click()
    expect(state_of(first)).to_have_text("executing")
    expect(state_of(second)).to_have_text("executing")
    expect(state_of(other)).to_have_text("assigned")


def test_closing_it_takes_it_away_and_lets_the_machine_go_on(open_notebook):
    notebook = open_notebook(
        EXPLORE.replace("explore(fsm)", "view = explore(fsm)\nview"),
        "view.close()",
        "fsm.begin_execution()\nprint(fsm.state)",
    )
    notebook.run(0)
    expect(notebook.explorer(0)).to_be_visible()
    notebook.run(1)
    expect(notebook.explorer(0)).to_have_count(0)
    assert notebook.run(2) == "executing"


def test_a_machine_trips_and_one_looks_back_and_goes_back(open_notebook):
    notebook = open_notebook(
        """
        from orkeon_transitions import CircuitBreakerPolicy, TaskExecution
        from orkeon_transitions.explorer import explore

        strict = CircuitBreakerPolicy.strict()
        fsm = TaskExecution(policy=strict.model_copy(update={"max_state_visits": 2}))
        view = explore(fsm)
        view
        """,
        "print(fsm.state, view.machine.state)",
    )
    notebook.run(0)
    explorer = notebook.explorer(0)
    for name, state in (
        ("begin_execution", "executing"),
        ("request_tool_call", "tool_calling"),
        ("tool_call_completed", "executing"),
        ("request_tool_call", "tool_calling"),
    ):
        trigger(explorer, name).click()
        expect(state_of(explorer)).to_have_text(state)
    trigger(explorer, "tool_call_completed").click(force=True)  # a third visit, which the breaker refuses
    expect(state_of(explorer)).to_have_text("degraded")
    expect(explorer.locator(".ork-log tbody tr[data-kind=degraded]")).to_have_count(1)
    assert notebook.run(1) == "degraded degraded"

    slider = explorer.get_by_role("slider", name="Step")
    slider.focus()
    slider.press("Home")
    expect(state_of(explorer)).to_have_text("assigned")
    slider.press("ArrowRight")
    expect(state_of(explorer)).to_have_text("executing")
    slider.press("End")
    expect(state_of(explorer)).to_have_text("degraded")

    explorer.get_by_role("button", name="Undo", exact=True).click()
    expect(state_of(explorer)).to_have_text("tool_calling")
    expect(explorer.locator(".ork-notices")).to_contain_text("This is a copy")
    assert notebook.run(1) == "degraded tool_calling"


def test_a_picture_is_taken_along(open_notebook):
    notebook = open_notebook('from orkeon_transitions.explorer import explore\nexplore("task_execution")')
    notebook.run(0)
    with notebook.page.expect_download() as download:
        notebook.explorer(0).get_by_role("button", name="Export as SVG").click()
    assert download.value.suggested_filename.endswith(".svg")


def test_a_crew_is_followed_while_it_runs(open_notebook):
    notebook = open_notebook(
        """
        from orkeon_transitions import load_crew
        from orkeon_transitions.explorer import explore

        crew = load_crew("103-ts-codebase-with-fsm")
        view = explore(crew)
        view
        """,
        "result = await crew.run(observer=view.observer)\nprint(result.status)",
    )
    notebook.run(0)
    explorer = notebook.explorer(0)
    expect(explorer).to_contain_text("waiting")
    assert notebook.run(1) == "completed"
    expect(explorer).to_contain_text("7 of 7 completed")


def test_it_wears_the_theme_of_jupyterlab_and_can_be_read_in_both(open_notebook):
    notebook = open_notebook(EXPLORE + "fsm.begin_execution()", "explore(fsm)")
    notebook.run(0)
    notebook.run(1)
    explorer = notebook.explorer(1)
    expect(state_of(explorer)).to_have_text("executing")
    inks = []
    for theme in "JupyterLab Light", "JupyterLab Dark":
        notebook.wear(theme)
        inks.append(state_of(explorer).evaluate("element => getComputedStyle(element).color"))
        assert violations(notebook.page, ".orkeon-explorer") == []
    assert inks[0] != inks[1]
