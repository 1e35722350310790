"""A person at the explorer's page: what they do there, and what they see."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=20_000)  # a computer that is busy with other tests may take a while

# What Chromium writes to the console where a request is refused, as it should be.
REFUSED_LOAD = "Failed to load resource"


class Person:
    """What a person does on a page, and sees there."""

    def __init__(self, page):
        self.page = page
        self.state = page.locator(".ork-state-name")
        self.log = page.locator(".ork-log tbody tr")
        self.slider = page.get_by_role("slider", name="Step")

    def trigger(self, name):
        return self.page.locator(f'[data-trigger="{name}"]')

    def click(self, name):
        self.trigger(name).click(force=True)

    def fire(self, *names):
        """Clicks triggers, each when the page has shown what became of the one before."""
        for name in names:
            rows = self.log.count()
            self.click(name)
            expect(self.log.nth(rows)).to_be_attached()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def rows(self, kind):
        return self.page.locator(f'.ork-log tbody tr[data-kind="{kind}"]')

    def drawn(self, state):
        return self.page.locator(f'svg [id$="state-{state}"]')


def sees(person, state):
    expect(person.state).to_have_text(state)


def ends(explorer, page):
    """Closes the page and ends the process in good order."""
    page.close()
    assert explorer.end() == 0
