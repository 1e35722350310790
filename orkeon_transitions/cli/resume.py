"""`orkeon resume`: goes on with a run of a crew that was interrupted."""

from __future__ import annotations

from contextlib import ExitStack

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.asked import model_options, wanted
from orkeon_transitions.cli.carrying_out import Outputs, carry_out, load, output_options, pairs
from orkeon_transitions.cli.own_tools import imported, tools_option
from orkeon_transitions.cli.people import conduct_options, person
from orkeon_transitions.cli.screen import Mistake, current_screen
from orkeon_transitions.cli.stores import opened_store, resume_words, store_option
from orkeon_transitions.cli.watching import wanted_page, watch_options, watched

EXAMPLES = examples(
    "orkeon runs --store sqlite:///runs.db              # which runs there are",
    "orkeon resume 3f9c1a2b4d5e --store sqlite:///runs.db",
)


@click.command("resume", epilog=EXAMPLES)
@click.argument("run")
@store_option(required=True, text="The store that keeps it")
@click.option(
    "--crew", metavar="CREW", help="Where the crew is now (as for `orkeon run`), if not where it was."
)
@model_options
@click.option(
    "--input", "inputs", multiple=True, metavar="KEY=VALUE", help="Another value for {KEY}; repeatable."
)
@click.option(
    "--allow-changes", is_flag=True, help="Go on though the crew or the inputs are not as they were."
)
@click.option("--take-over", is_flag=True, help="Go on though another process seems to work on it.")
@tools_option
@conduct_options
@output_options
@watch_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@shared_options
@click.pass_context
def command(
    context: click.Context,
    *,
    run: str,
    url: str,
    crew: str | None,
    model: str | None,
    base_url: str | None,
    inputs: tuple[str, ...],
    allow_changes: bool,
    take_over: bool,
    own_tools: tuple[str, ...],
    concurrency: int | None,
    no_input: bool,
    report: str | None,
    diagrams: str | None,
    watch: bool,
    port: int | None,
    host: str | None,
    no_open: bool,
    as_json: bool,
) -> None:
    """Go on with a run that was interrupted, broken off or killed.

    What had ended is not done again. A task that was under way goes on from its machine's last transition,
    with what was left of its limits. A crew file or inputs that have changed are named and refused, unless
    --allow-changes is given. What a person had been asked is asked again. A run that has ended is exit code
    2, and so is one that another process works on; the other exit codes are those of `orkeon run`.
    """
    screen = current_screen()
    asked = wanted(model, base_url)
    outputs = Outputs.named(report, diagrams, as_json=as_json)
    page = wanted_page(watch=watch, as_json=as_json, host=host, port=port, opens=not no_open)
    with ExitStack() as looking, ExitStack() as opened:
        store = opened.enter_context(opened_store(url, must_exist=True))
        begun = store.runs.read(run).note
        source = crew or begun["source"]
        if source is None:
            raise Mistake(f"run '{run}' began with a crew from a text: name its file with --crew")
        loaded = load(screen, source, tools=imported(own_tools))
        given = {**begun["inputs"], **pairs(inputs)}
        watcher = looking.enter_context(watched(screen, loaded, page))
        code = carry_out(
            screen,
            loaded,
            given,
            lambda observer: loaded.resume(
                run,
                run_log=store.runs,
                inputs=given,
                allow_changes=allow_changes,
                take_over=take_over,
                model=asked,
                observer=watcher.told_too(observer),
                concurrency=concurrency,
                ask_human=person(screen, no_input=no_input),
            ),
            outputs,
            around=opened,
            resumable=resume_words(run, store.url),
        )
        watcher.stay(code)
    context.exit(code)
