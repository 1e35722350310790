"""`pytest --engine stock`: every machine that a test makes without naming an engine runs on the reference.

It is a plugin of its own so that tests outside of this folder can be judged both ways as well:
`PYTHONPATH=tests/plugins pytest -p engine_option --engine stock FOLDER`.
"""

import pytest

ENGINES = ("auto", "stock")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption(
        "--engine", choices=ENGINES, default="auto", help="the engine of machines that name none"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Changes the default of the machines' own parameter, where another one is asked for."""
    if config.getoption("engine") == "auto":
        return
    from orkeon_transitions.runtime.base import MachineBase

    defaults = MachineBase.__init__.__kwdefaults__
    if defaults is None or defaults["engine"] not in ENGINES:
        raise pytest.UsageError(
            "--engine: the machines' constructor has no default engine that could be changed"
        )
    defaults["engine"] = config.getoption("engine")


def pytest_report_header(config: pytest.Config) -> str:
    """Says which engine it is."""
    return f"engine: {config.getoption('engine')}"
