"""Kills processes that run a packaged crew, and resumes: a program of its own, since it forks.

`python -m tests.crew.killing CREW FOLDER POINT...` writes a line of JSON for each point: a whole number, the
write after which the process kills itself, or a time in seconds such as `0.05`, after which it is killed from
outside. Each run and each resume is a process of its own.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from orkeon_transitions.crew import CrewObserver, load_crew
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.store import MachineStore


class Deadly:
    """A log after whose n-th write this process is killed."""

    def __init__(self, log, writes):
        self._log = log
        self._writes = writes

    def begin(self, *given):
        self._hold = self._log.begin(*given)
        return self

    def read(self, *given):
        return self._log.read(*given)

    def take_up(self, *given, **options):
        return self._log.take_up(*given, **options)

    def record(self, *given):
        self._hold.record(*given)
        self._count()

    def release(self, *given, **options):
        self._hold.release(*given, **options)
        self._count()

    def _count(self):
        self._writes -= 1
        if self._writes == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(work):
    """Does work in a process of its own; gives that, or what it ended with."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def run(name, url, writes):
    with MachineStore(url) as store:
        load_crew(name).run_sync(run_log=Deadly(store.runs, writes), run_id="r")


def resume(name, url, out):
    """Goes on, without --take-over: that the first process has ended must be noticed."""
    try:
        told = resumed(name, url)
    except OrkeonError as error:
        told = {"refused": str(error)}
    out.write_text(json.dumps(told))


def resumed(name, url):
    restored = []
    with MachineStore(url) as store:
        before = store.runs.read("r")
        finished = [m.note["task"] for m in before.machines if m.note and m.snapshot.state == "completed"]
        observer = CrewObserver(task_restored=lambda fact: restored.append(fact.result.id))
        result = load_crew(name).resume_sync("r", run_log=store.runs, observer=observer)
        after = store.runs.read("r")
        journals = {m.machine_id: [r.ordinal for r in store.journal(m.machine_id)] for m in after.machines}
    told = {"before": before.status, "finished": finished, "restored": restored, "after": after.status}
    return {**told, "result": result.to_dict(), "journals": journals}


def point(name, folder, when):
    """Kills at one point and resumes; gives what there is to tell."""
    url, out = f"sqlite:///{folder / f'{when}.db'}", folder / f"{when}.json"
    is_count = when.isdigit()
    child = in_a_process(lambda: run(name, url, int(when) if is_count else -1))
    if not is_count:
        time.sleep(float(when))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    told = {"point": when, "killed": os.WIFSIGNALED(status)}
    if told["killed"]:
        _, status = os.waitpid(in_a_process(lambda: resume(name, url, out)), 0)
        told["code"] = os.waitstatus_to_exitcode(status)
        if out.exists():
            told |= json.loads(out.read_text())
    return told


if __name__ == "__main__":
    crew, folder, *points = sys.argv[1:]
    os.chdir(folder)
    for when in points:
        sys.stdout.write(json.dumps(point(crew, Path(folder), when)) + "\n")
        sys.stdout.flush()
