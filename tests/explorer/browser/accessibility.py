"""What axe-core finds on a page."""

import importlib.resources
from functools import cache

import pytest


@cache
def axe():
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    return (importlib.resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(page, within="body"):
    """Every violation of axe-core's rules, best practices among them: the rule and the elements."""
    page.evaluate(axe())
    found = page.evaluate("within => axe.run(within, { resultTypes: ['violations'] })", within)
    return [
        (rule["id"], rule["help"], [node["target"][0] for node in rule["nodes"]])
        for rule in found["violations"]
    ]
