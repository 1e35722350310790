"""`orkeon docs`: the guides that ship, in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.screen import Mistake, Screen, current_screen

EXAMPLES = examples(
    "orkeon docs",
    "orkeon docs breaker",
    "orkeon docs yaml-keys > yaml-keys.md",
    "orkeon docs --path",
)


@click.command("docs", epilog=EXAMPLES)
@click.argument("topic", required=False)
@click.option(
    "--path", "wants_path", is_flag=True, help="Print where they lie, with the JSON Schemas beside them."
)
@shared_options
def command(topic: str | None, wants_path: bool) -> None:
    """List the guides that ship, or show the one on TOPIC.

    A terminal shows it set for reading, page by page where it is longer than the screen; a pipe gets the
    Markdown as it is.
    """
    screen = current_screen()
    known = None if topic is None else _known(topic)
    if wants_path:
        screen.result(str(_folder() if known is None else _folder() / f"{known}.md"))
    elif known is None:
        _list(screen)
    else:
        _show(screen, known)


def _known(topic: str) -> str:
    """The topic that is meant.

    Raises:
        Mistake: There is none like it; the nearest is named.
    """
    from orkeon_transitions.definition import nearest
    from orkeon_transitions.docs import TOPICS

    folded = topic.lower().removesuffix(".md").replace("_", "-")
    if folded in TOPICS:
        return folded
    near = nearest(folded, TOPICS)
    hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(TOPICS)}"
    raise Mistake(f"no guide '{topic}'; {hint}")


def _folder() -> Path:
    from orkeon_transitions import docs

    return Path(docs.__path__[0])


def _list(screen: Screen) -> None:
    from orkeon_transitions.docs import TOPICS, summary

    screen.table(("topic", "what it tells"), [(topic, summary(topic)) for topic in TOPICS])
    screen.hint("`orkeon docs TOPIC` shows one")


def _show(screen: Screen, topic: str) -> None:
    from orkeon_transitions.docs import guide

    text = guide(topic)
    if not screen.draws(sys.stdout):
        screen.raw(text)
        return
    from orkeon_transitions.cli.typesetting import typeset

    console = screen.console(sys.stdout)
    set_text = typeset(text, console)
    if set_text.count("\n") < console.height:
        screen.raw(set_text)
    else:
        # None: in colors where the pager can show them, which click knows.
        click.echo_via_pager(set_text, color=False if screen.plain else None)
