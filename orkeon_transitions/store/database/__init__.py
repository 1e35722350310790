"""The store's way into a database: the only place that knows SQLAlchemy.

What belongs here is SQL: connections, tables and their versions, rows in and out, and a database's troubles
in plain words. What never belongs here: a machine, a fact's meaning, a connection or an error of SQLAlchemy
that leaves this folder.
"""
