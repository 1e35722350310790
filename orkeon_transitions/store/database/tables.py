"""The tables, as this version uses them; `schema` brings a database to them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, MetaData, Table, Text

metadata = MetaData()

#: One row: the version of the schema.
schema_version = Table("orkeon_schema", metadata, Column("version", Integer, nullable=False))

#: One row for each machine: where it is, and its snapshot.
machines = Table(
    "orkeon_machines",
    metadata,
    Column("machine_id", Text, primary_key=True),
    # Counts what was written: the compare-and-swap compares it.
    Column("version", BigInteger, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("is_terminal", Integer, nullable=False),
    Column("is_broken", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("definition", Text, nullable=False),
    # Seconds since the epoch: for listing and pruning, never for a limit.
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    # None where only the journal is known, after an import of a journal without a snapshot.
    Column("snapshot", Text),
)

#: One row for each run of a crew: who works on it, and what it began and ended with.
runs = Table(
    "orkeon_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    # Counts who took it up: whoever has an older number writes no more.
    Column("turn", BigInteger, nullable=False),
    # The process that works on it, or None.
    Column("owner", Text),
    Column("note", Text, nullable=False),
    Column("ending", Text),
    Column("began_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

#: One row for each machine of a run: what was noted beside its last fact.
run_machines = Table(
    "orkeon_run_machines",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("machine_id", Text, primary_key=True),
    Column("place", BigInteger, nullable=False),
    Column("note", Text, nullable=False),
)

#: One row for each fact: the line that a journal in JSON lines would have.
journal = Table(
    "orkeon_journal",
    metadata,
    Column("machine_id", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("line", Text, nullable=False),
)
