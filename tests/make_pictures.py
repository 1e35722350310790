"""Makes the pictures of the README: `python -m tests.make_pictures [FOLDER]`.

Run it after a change of a shipped machine, of how machines look or of the explorer, and look at what comes
out. It always draws with graphviz-pure, so that everybody gets the same bytes. For the explorer's it needs a
Chromium; without one, those stay as they are.
"""

import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orkeon_transitions import CircuitBreakerPolicy, TaskExecution, TransitionResult, load_crew, render
from orkeon_transitions.machines import machine_definition

FOLDER = Path(__file__).parents[1] / "orkeon_transitions" / "examples" / "pictures"
TOOL_CALL = ("request_tool_call", "tool_call_completed")
WHOLE_RUN = (
    *(
        "begin_execution",
        *TOOL_CALL,
        *TOOL_CALL,
        *TOOL_CALL,
        "request_tool_call",
        "tool_call_failed",
        "retry",
    ),
    *("submit_for_validation", "validation_failed", "submit_for_validation", "validation_passed"),
)
RUNAWAY = ("begin_execution", *TOOL_CALL, *TOOL_CALL, *TOOL_CALL, "request_tool_call")

FAILING = ("request_tool_call", "tool_call_failed", "retry")
CLICKS = ("begin_execution", *TOOL_CALL, *FAILING * 4)  # the last retry is one too many
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--font-render-hinting=none",
)


def make_pictures(folder: Path) -> list[Path]:
    """Draw all of them into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        render(machine_definition(name), folder / f"{name}.png")
        for name in ("task_execution", "hermes_agent", "graph_router")
    ]
    made.append(render(load_crew("103-ts-codebase-with-fsm"), folder / "crew_plan.png"))
    for name, triggers, limit in (("task_run", WHOLE_RUN, 100), ("task_degraded", RUNAWAY, 7)):
        task = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=limit, use_degraded_mode=True))
        made.append(render(task, folder / f"{name}.png", trace=run(task, triggers)))
    return made


def run(task: TaskExecution, triggers: tuple[str, ...]) -> list[TransitionResult]:
    """Fire the triggers one after another; what was done."""
    trace: list[TransitionResult] = []
    task.on_transition(trace.append)
    for number, trigger in enumerate(triggers):
        task.try_fire(trigger, attempt=number)
    return trace


def photograph_explorer(folder: Path, chromium: str) -> list[Path]:
    """Open the explorer in light and in dark, click through a run, and take a picture of each."""
    from playwright.sync_api import sync_playwright

    made = []
    with served("task_execution") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1180, "height": 740}, color_scheme=scheme)
            page = context.new_page()
            page.goto(url)
            for trigger in CLICKS:
                # By force: one that is not permitted is clicked, too, and the log has the reason then.
                page.get_by_role("button", name=trigger, exact=True).click(force=True)
                page.wait_for_timeout(400)
            page.mouse.move(2, 2)
            page.wait_for_timeout(1200)
            made.append(folder / f"explorer_{scheme}.png")
            made[-1].write_bytes(packed(page.screenshot(animations="disabled")))
            context.close()
        browser.close()
    return made


def packed(png: bytes) -> bytes:
    """The same picture in fewer bytes: flat colours pack best as they are, without PNG's differences."""
    chunks, place = [], 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        chunks.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + length]))
        place += 12 + length
    width, _, depth, colours = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (depth, colours) == (8, 2), "browsers give true colours"
    data = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    flat = zlib.compress(b"".join(b"\0" + row for row in pixel_rows(data, 3 * width)), 9)
    return png[:8] + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in (chunks[0], (b"IDAT", flat), (b"IEND", b""))
    )


def pixel_rows(data: bytes, width: int) -> Iterator[bytes]:
    """The rows of a true-colour PNG, in which each byte may stand for its difference to those around it."""
    above = bytes(width)
    for start in range(0, len(data), width + 1):
        how, row = data[start], bytearray(data[start + 1 : start + 1 + width])
        for x, up in enumerate(above):
            left, corner = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            nearest = min(left, up, corner, key=lambda one, to=left + up - corner: abs(to - one))
            row[x] = row[x] + (0, left, up, (left + up) // 2, nearest)[how] & 255
        yield bytes(row)
        above = bytes(row)


@contextmanager
def served(machine: str) -> Iterator[str]:
    """The explorer's address, as long as it is wanted."""
    command = [sys.executable, "-m", "orkeon_transitions", "explore", machine, "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    os.environ["PATH"] = ""  # hides a system Graphviz, whose fonts differ from one system to the next
    target = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    pictures = make_pictures(target)
    if chromium is None:
        print("there is no Chromium: the explorer's pictures stay as they are")
    else:
        pictures += photograph_explorer(target, chromium)
    for picture in pictures:
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
