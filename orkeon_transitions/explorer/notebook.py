"""The way into the explorer from a notebook, which loads anywidget when it is taken."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import MissingExtraError

if TYPE_CHECKING:
    from orkeon_transitions.explorer.widget import ExplorerWidget


def explore(subject: Any, **options: Any) -> ExplorerWidget:
    """Shows a machine that you can touch, in a cell of Jupyter.

    A machine of yours is followed: what a cell fires moves the picture, and a click moves the machine. Of a
    definition, a name or a file a machine is made that is the explorer's own.

    Args:
        subject: A machine, a `MachineDefinition`, a `StateGraph`, a `Crew`; a machine's name; the path of a
            machine file, a crew file or a journal; or a store's URL.
        **options: Those of `open_session`, such as `machine_id` for a journal of several machines.

    Returns:
        The widget. `widget.machine` is the machine that is explored now, `widget.close()` ends it.

    Raises:
        MissingExtraError: anywidget is not installed (`orkeon-transitions[explore]`).
        OrkeonError: There is no such name, file or journal.
        TypeError: The subject is nothing that can be explored.
    """
    check_for_anywidget()
    if isinstance(subject, type):
        name = subject.__name__
        raise TypeError(f"{name} is a class; a machine of it can be explored: explore({name}(...))")
    from orkeon_transitions.explorer.opening import open_session  # noqa: PLC0415 (it reads the subject)
    from orkeon_transitions.explorer.widget import ExplorerWidget  # noqa: PLC0415 (only who asks loads anywidget)

    session = open_session(subject, **options)
    try:
        return ExplorerWidget(session)
    except BaseException:
        session.close()
        raise


def check_for_anywidget() -> None:
    """Says what to install.

    Raises:
        MissingExtraError: anywidget is not there.
    """
    if find_spec("anywidget") is None:
        raise MissingExtraError("The explorer in Jupyter needs anywidget.", extra="explore")
