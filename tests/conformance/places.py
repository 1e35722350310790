"""The four places where facts are kept, each behind the same few words.

A place makes machines that it keeps, tells their records and, but for a journal of lines, brings machines
back. `refusal` and `words` are what it answers once it is closed.
"""

import asyncio
import json

from orkeon_transitions.errors import JournalError
from orkeon_transitions.runtime import AsyncStateMachine
from orkeon_transitions.store import JsonlJournal, MachineStore
from orkeon_transitions.store.records import fact_line, read_record


def records_of(lines, name):
    """The records of some lines of JSON."""
    return [read_record(json.loads(line), name, number) for number, line in enumerate(lines, 1)]


class InMemory:
    """A list: what any program's own commit hook may be."""

    refusal, words = RuntimeError, "the list is closed"

    def __init__(self):
        self.lines = []
        self.snapshots = {}
        self.closed = False

    def __call__(self, fact, snapshot):
        if self.closed:
            raise RuntimeError("the list is closed")
        self.lines.append((snapshot.machine_id, fact_line(fact, snapshot)))
        self.snapshots[snapshot.machine_id] = snapshot.model_dump_json()

    def hook(self, kind):
        """Itself, or the same as a coroutine function for an async machine."""
        if not issubclass(kind, AsyncStateMachine):
            return self

        async def keep(fact, snapshot):
            await asyncio.sleep(0)
            self(fact, snapshot)

        return keep

    def create(self, kind, *args, **options):
        return kind(*args, **options, commit=self.hook(kind))

    def load(self, kind, *args, **options):
        *args, machine_id = args
        return kind.restore(*args, self.snapshots[machine_id], commit=self.hook(kind), **options)

    def records(self, machine_id):
        return records_of([line for name, line in self.lines if name == machine_id], "memory")

    def close(self):
        self.closed = True

    def reopened(self):
        self.closed = False
        return self


class InFile:
    """A journal of JSON lines."""

    refusal, words = JournalError, "is closed"

    def __init__(self, path):
        self.path = path
        self.journal = JsonlJournal(path)

    def create(self, kind, *args, **options):
        machine = kind(*args, **options)
        self.journal.record(machine)
        return machine

    def records(self, machine_id):
        # Whoever looks while a line is written may see a part of it.
        whole = self.path.read_bytes().rpartition(b"\n")[0]
        records = records_of(whole.splitlines(), str(self.path))
        return [record for record in records if record.machine_id == machine_id]

    def close(self):
        self.journal.close()

    def reopened(self):
        self.close()
        return InFile(self.path)


class InDatabase:
    """A store, in SQLite or PostgreSQL."""

    refusal, words = JournalError, "is closed"

    def __init__(self, url):
        self.url = url
        self.store = MachineStore(url)

    def create(self, kind, *args, **options):
        return self.store.create(kind, *args, **options)

    def load(self, kind, *args, **options):
        return self.store.load(kind, *args, **options)

    def records(self, machine_id):
        return self.store.journal(machine_id)

    def close(self):
        self.store.close()

    def reopened(self):
        self.close()
        return InDatabase(self.url)
