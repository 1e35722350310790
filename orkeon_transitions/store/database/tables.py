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

#: One row for each fact: the line that a journal in JSON lines would have.
journal = Table(
    "orkeon_journal",
    metadata,
    Column("machine_id", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("line", Text, nullable=False),
)
