"""The commands' frame: lazy commands, options that all share, and what an error becomes."""

from __future__ import annotations

import difflib
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeVar, cast

import click
from typing_extensions import override

from orkeon_transitions.cli.screen import Mistake, Screen
from orkeon_transitions.errors import DefinitionError, OrkeonError, place_text

FAILED = 1
INVALID = 2
DEGRADED = 3
INTERRUPTED = 130

COMMANDS = (
    "run",
    "check",
    "render",
    "explore",
    "replay",
    "runs",
    "resume",
    "machines",
    "schema",
    "model",
    "import",
    "docs",
)
# A word of Python's is no name for a module.
MODULES = {"import": "importing"}
HELP_NAMES = ("-h", "--help")
# Shown by options of our own: what click writes itself does not go through the screen.
SETTINGS: dict[str, Any] = {"help_option_names": [], "max_content_width": 100}

Command = TypeVar("Command", bound=Callable[..., Any])


class LazyGroup(click.Group):
    """Imports the module of a command when that command is asked for."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer meets them."""
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"orkeon_transitions.cli.{MODULES.get(cmd_name, cmd_name)}")
        return cast("click.Command", module.command)

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; an unknown one is told with the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(COMMANDS)}"
            ctx.fail(f"no command '{name}'; {hint}")
        return super().resolve_command(ctx, args)


def shared_options(command: Command) -> Command:
    """Adds the options that every command takes, before or after its name."""
    command = click.option(
        *HELP_NAMES, is_flag=True, is_eager=True, expose_value=False, callback=_show_help, help="Show this."
    )(command)
    for option, text in (
        ("--debug", "Show a traceback for an unexpected error (also: ORKEON_DEBUG=1)."),
        ("--no-color", "No colors (also: NO_COLOR=1)."),
        ("--quiet", "No notes and no progress; results, warnings and errors only."),
    ):
        command = click.option(option, is_flag=True, expose_value=False, callback=_remember, help=text)(
            command
        )
    return command


def _remember(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        name = "plain" if option.name == "no_color" else str(option.name)
        setattr(context.ensure_object(Screen), name, True)


def _show_help(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Screen).result(context.get_help())
        context.exit()


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Screen).result(f"orkeon {version('orkeon-transitions')}")
        context.exit()


def examples(*lines: str) -> str:
    """The examples at the end of a command's help; click's mark keeps the lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 invalid input, 3 degraded, 130 interrupted."
EPILOG = examples(
    "orkeon run 103-ts-codebase-with-fsm       # a crew that ships",
    "orkeon render task_execution -o task.svg  # a machine as a picture",
    "orkeon check my-crew.yaml                 # what is wrong, and where",
)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings=SETTINGS,
    epilog=f"{EPILOG}\n\n{EXIT_CODES}",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
@shared_options
@click.pass_context
def application(context: click.Context) -> None:
    """State machines that keep LLM agents from running away."""
    if context.invoked_subcommand is None:
        context.ensure_object(Screen).result(context.get_help())


def run_application(arguments: Sequence[str] | None) -> int:
    """Runs the application and turns whatever happens into an exit code and one clear message."""
    screen = Screen()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: screen.warn(str(message))
        try:
            code = application.main(
                None if arguments is None else list(arguments), "orkeon", standalone_mode=False, obj=screen
            )
            screen.finish()
        except BaseException as error:  # noqa: BLE001 - this is the one place where every error ends
            return _told(screen, error)
    return code if isinstance(code, int) else 0


def _told(screen: Screen, error: BaseException) -> int:
    """Says what an error means to the user, and gives the exit code for it."""
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else INVALID
        case KeyboardInterrupt() | click.Abort():
            screen.say("error", "interrupted")
            return INTERRUPTED
        case Mistake():
            screen.say("error", error.message)
        case click.UsageError():
            if error.ctx is not None:
                screen.message(f"{error.ctx.get_usage()}\n({error.ctx.command_path} --help says more)\n")
            screen.say("error", error.format_message())
        case click.ClickException():
            screen.say("error", error.format_message())
        case DefinitionError():
            for problem in error.problems:
                place = place_text(problem.file, problem.line, problem.column)
                screen.say("error", ": ".join(filter(None, (problem.path, problem.sentence))), place=place)
        case OrkeonError():
            screen.say("error", str(error))
        case OSError() if error.filename is not None:
            screen.say("error", f"{os.fsdecode(error.filename)}: {error.strerror}")
        case FileNotFoundError():  # without a name: asked where we are, the system knew nothing
            screen.say("error", "the current folder does not exist any more")
        case _:
            return _unexpected(screen, error)
    return INVALID


def _unexpected(screen: Screen, error: BaseException) -> int:
    """A fault of ours: one line, and how to see the rest."""
    if screen.debug:
        traceback.print_exception(error, file=sys.stderr)
    else:
        words = f": {error}" if str(error) else ""
        screen.say("error", f"unexpected {type(error).__name__}{words} (--debug shows where)")
    return FAILED
