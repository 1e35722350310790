"""`orkeon run --watch`: a crew's run is followed on its page, and its journal explored when it is over."""

import json

import pytest

from tests.explorer.browser.explorers import serving
from tests.explorer.browser.person import Person, ends, expect, sees

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SLOW_TOOL = """\
import time
from pathlib import Path
from orkeon_transitions import tool

@tool
def ponder(text: str) -> str:
    \"\"\"Thinks until it may go on.\"\"\"
    while not Path("go").exists():
        time.sleep(0.02)
    return "well"
"""
PONDERERS = """\
name: ponderers
agents:
  thinker: {role: Thinker, tools: [ponder]}
tasks:
  first: {description: Think, agent: thinker}
  second: {description: Think more, agent: thinker, dependencies: [first]}
"""


class TestWatching:
    def tasks(self, page):
        return page.locator(".ork-machines button")

    def test_a_run_is_followed_while_it_goes_on(self, chromium, tmp_path):
        (tmp_path / "slow.py").write_text(SLOW_TOOL)
        (tmp_path / "crew.yaml").write_text(PONDERERS)
        with serving("run", "crew.yaml", "--tools", "slow", "--watch", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            person = Person(page)
            expect(self.tasks(page)).to_have_count(2)
            sees(person, "tool_calling")
            expect(page.get_by_label("The crew")).to_contain_text("executing")
            (tmp_path / "go").touch()
            expect(page.get_by_label("The crew")).to_contain_text("completed")
            self.tasks(page).filter(has_text="first").click()
            sees(person, "completed")
            person.slider.focus()
            page.keyboard.press("Home")
            sees(person, "assigned")
            explorer.until(b"stays until Ctrl-C")
            ends(explorer, page)

    def test_the_crew_that_ships(self, chromium, tmp_path):
        name = "103-ts-codebase-with-fsm"
        with serving("run", name, "--watch", "--journal", "run.jsonl", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            expect(page.get_by_label("The crew")).to_contain_text("completed")
            expect(self.tasks(page)).to_have_count(7)
            explorer.until(b"stays until Ctrl-C")
            ends(explorer, page)
        lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
        assert lines
        with serving("explore", "run.jsonl", folder=tmp_path) as explorer:
            page = chromium.open(explorer.url)
            expect(self.tasks(page).first).to_be_visible()
            person = Person(page)
            person.slider.focus()
            page.keyboard.press("Home")
            expect(person.log.first).to_be_visible()
            ends(explorer, page)
