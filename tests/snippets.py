"""Snippets of our Markdown pages: found, run, and held against the output that the page shows.

A block of `python` is run by itself; a block of `text` right below it is what it prints. A block of `console`
has commands after `$ ` and below each what it writes. In the output of either, `...` stands for anything in
its line, and for any lines where it stands alone. A block of `yaml` whose first line is a comment with a
file's name is that file, for the blocks below it.
"""

import io
import re
import shlex
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from orkeon_transitions.cli import main

BLOCK = re.compile(
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```(?:\n|\Z))?",
    re.DOTALL | re.MULTILINE,
)
FILE_NAME = re.compile(r"# ([\w./-]+\.(?:yaml|py))\n")


@dataclass(frozen=True)
class Snippet:
    """One block of a page.

    Attributes:
        page: The page.
        line: The line on which its fence stands, from 1.
        language: `python`, `console`, `yaml` ...
        text: What stands in it.
        output: The block of `text` right below it, or None.
    """

    page: Path
    line: int
    language: str
    text: str
    output: str | None

    @property
    def file_name(self) -> str | None:
        found = FILE_NAME.match(self.text)
        return found[1] if found else None

    def __str__(self):
        return f"{self.page.name}, line {self.line}"


def snippets(page: Path, *languages: str) -> list[Snippet]:
    """The blocks of a page, in its order; those in some languages, or all of them."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(
            page, text.count("\n", 0, found.start()) + 1, found["language"], found["text"], found["output"]
        )
        for found in BLOCK.finditer(text)
        if not languages or found["language"] in languages
    ]


def printed_by(snippet: Snippet) -> str:
    """Runs a block of Python and gives what it prints."""
    code = compile(snippet.text, str(snippet), "exec", dont_inherit=True)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, {"__name__": "__snippet__"})
    return printed.getvalue()


def session_of(snippet: Snippet) -> str:
    """Runs the commands of a block and gives the block as it would be written with their real output."""
    commands = [line for line in snippet.text.splitlines() if line.startswith("$ ")]
    assert commands, f"{snippet} has no command"
    code, session = 0, []
    for line in commands:
        if line == "$ echo $?":
            written = f"{code}\n"
        else:
            code, written = _written_by(line.removeprefix("$ "))
        session += [line + "\n", written]
    return "".join(session)


def _written_by(command: str) -> tuple[int, str]:
    arguments = shlex.split(command, comments=True)
    file = arguments[arguments.index(">") + 1] if ">" in arguments else None
    if arguments[0] != "orkeon":
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr
    out, both = io.StringIO(), io.StringIO()
    with redirect_stdout(out if file else both), redirect_stderr(both):
        code = main(arguments[1 : arguments.index(">") if file else None])
    if file:
        Path(file).write_text(out.getvalue(), encoding="utf-8")
    return code, both.getvalue()


def is_like(shown: str, real: str) -> bool:
    """Whether a shown output is the real one, `...` standing for what is left out."""
    pattern = re.escape(shown)
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.\\?$", "(?s:.*?)", pattern)
    pattern = pattern.replace(r"\.\.\.", ".*?")
    return re.fullmatch(pattern, real) is not None
