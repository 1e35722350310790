"""What the tests of the journal ask of a file."""

import json


def lines_of(path):
    """The journal's lines as data."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
