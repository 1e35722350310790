"""The command line, `orkeon`.

What belongs here: reading arguments, calling one room for the answer, and showing that answer to a person or
a program. A module for each command, imported when that command is asked for; `screen` decides how things
look, `app` what happens when they go wrong. What never belongs here: a rule about machines, journals or
crews. click and rich come in here and nowhere else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: What stands after the program's name; None takes them from `sys.argv`.

    Returns:
        The exit code: 0 done, 1 failed, 2 invalid input, 3 degraded, 130 interrupted.
    """
    try:
        from orkeon_transitions.cli.app import run_application
    except KeyboardInterrupt:  # Ctrl-C before there is anything that could say so
        os.write(2, b"error: interrupted\n")
        return 130

    code = run_application(arguments)
    if arguments is None:  # the program ends here
        from orkeon_transitions.cli.interrupts import only_end

        only_end()
    return code
