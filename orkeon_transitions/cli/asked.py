"""Which model a run asks: the options that say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orkeon_transitions.cli.screen import Mistake

if TYPE_CHECKING:
    from orkeon_transitions.crew.models import ModelSettings

Command = TypeVar("Command", bound=Callable[..., Any])


def model_options(command: Command) -> Command:
    """Adds `--model` and `--base-url`."""
    command = click.option(
        "--base-url",
        metavar="URL",
        help="Ask the OpenAI-compatible server at this address; it is told your key for that provider.",
    )(command)
    return click.option(
        "--model",
        metavar="NAME",
        help="Ask this model, whatever the file says: offline, local, or such as openai:gpt-5.",
    )(command)


def wanted(model: str | None, base_url: str | None) -> ModelSettings | None:
    """What the options say, or None: nothing.

    Raises:
        Mistake: It is no model, or no address.
    """
    from orkeon_transitions.crew.models import ModelNameError, ModelSettings, full_name
    from orkeon_transitions.crew.models.reading import check_base_url

    if model is None and base_url is None:
        return None
    try:
        name = None if model is None else full_name(model)
    except ModelNameError as error:
        raise Mistake(f"--model: {error.sentence}") from error
    if base_url is not None:
        try:
            check_base_url(base_url)
        except ValueError as error:
            raise Mistake(f"--base-url: {error}") from error
    return ModelSettings(model=name, base_url=base_url)
