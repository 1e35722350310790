"""`orkeon run`: a crew from its file to its result."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from orkeon_transitions.cli.app import examples, shared_options
from orkeon_transitions.cli.asked import model_options, wanted
from orkeon_transitions.cli.carrying_out import Outputs, carry_out, load, output_options, pairs
from orkeon_transitions.cli.own_tools import imported, tools_option
from orkeon_transitions.cli.people import conduct_options, person
from orkeon_transitions.cli.screen import Mistake, current_screen
from orkeon_transitions.cli.stores import opened_store, resume_words, store_option
from orkeon_transitions.cli.watching import wanted_page, watch_options, watched
from orkeon_transitions.cli.writing import named

EXAMPLES = examples(
    "orkeon run 103-ts-codebase-with-fsm",
    "orkeon run my-crew.yaml --input topic=parsers --journal run.jsonl",
    "orkeon run my-crew.yaml --model openai:gpt-5",
    "orkeon run my-crew.yaml --tools my_tools",
    "orkeon run my-crew.yaml --store sqlite:///runs.db",
    "orkeon run my-crew.yaml --report report.md --diagrams pictures",
    "orkeon run my-crew.yaml --watch",
    "orkeon run my-crew.yaml --json | jq .status",
)


@click.command("run", epilog=EXAMPLES)
@click.argument("crew")
@model_options
@click.option(
    "--input", "inputs", multiple=True, metavar="KEY=VALUE", help="Fills {KEY} in the file; repeatable."
)
@click.option(
    "--journal", metavar="FILE", callback=named, help="Write each transition down before it becomes visible."
)
@store_option(required=False, text="Keep the run in a store, so that `orkeon resume` can go on with it")
@click.option("--run-id", metavar="NAME", help="The run's own name; made up if left out.")
@tools_option
@conduct_options
@output_options
@watch_options
@click.option("--strict", is_flag=True, help="Refuse a crew file with unknown keys.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@shared_options
@click.pass_context
def command(
    context: click.Context,
    *,
    crew: str,
    model: str | None,
    base_url: str | None,
    inputs: tuple[str, ...],
    journal: str | None,
    url: str | None,
    run_id: str | None,
    own_tools: tuple[str, ...],
    concurrency: int | None,
    no_input: bool,
    report: str | None,
    diagrams: str | None,
    watch: bool,
    port: int | None,
    host: str | None,
    no_open: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Run a crew: a file, a folder, or an example that ships.

    A folder is that of the crew's files, or a CrewAI project with agents.yaml and tasks.yaml in `config/` or
    `src/*/config/`.

    Progress goes to standard error, the result to standard output. Ctrl-C cancels the tasks and says what was
    done; pressed again, it ends the program at once, or as soon as a result that is there is written down. A
    journal that cannot be opened is exit code 2; one that cannot be written stops the run, exit code 1.

    Where a task has humanInput or an agent asks a question, the person at the terminal is asked. Without one,
    or with --no-input, a crew that needs a person's consent is refused, and a question is answered with that.

    A store keeps the run whatever ends it; the inputs and the outputs of the tasks are kept in there, and
    nothing of what models and tools have said to each other.

    With --watch, a page in the browser follows the run: its tasks, the machine of each, its limits. It is
    served on this computer only, and at a terminal it stays after the run until Ctrl-C.
    """
    screen = current_screen()
    if journal is not None and url is not None:
        raise Mistake("--journal and --store: a run is written down once, and a store keeps a journal, too")
    given, asked = pairs(inputs), wanted(model, base_url)
    outputs = Outputs.named(report, diagrams, as_json=as_json)
    page = wanted_page(watch=watch, as_json=as_json, host=host, port=port, opens=not no_open)
    loaded = load(screen, crew, strict=strict, tools=imported(own_tools))
    resumable = None
    with watched(screen, loaded, page) as watcher, ExitStack() as opened:
        options: dict[str, Any] = {"run_id": run_id, "model": asked, "concurrency": concurrency}
        options["ask_human"] = person(screen, no_input=no_input)
        if journal is not None:
            from orkeon_transitions.store import JsonlJournal

            options["journal"] = opened.enter_context(JsonlJournal(journal))
        if url is not None:
            from orkeon_transitions.crew.run_log import own_name

            run_id = own_name(run_id, is_kept=True)
            store = opened.enter_context(opened_store(url))
            options |= {"run_id": run_id, "run_log": store.runs}
            resumable = resume_words(run_id, store.url)
            screen.say("note", f"run {run_id} is kept in {store.url}")
        code = carry_out(
            screen,
            loaded,
            given,
            lambda observer: loaded.run(given, observer=watcher.told_too(observer), **options),
            outputs,
            around=opened,
            resumable=resumable,
        )
        watcher.stay(code)
    context.exit(code)
