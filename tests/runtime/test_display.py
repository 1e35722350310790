"""A machine shows itself: in a terminal, to a completing editor, in Jupyter."""

import copy
import inspect
import pickle

import pytest

from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import RING, limits, quiet


def test_repr_says_kind_name_id_and_state(kind):
    machine = kind.make(RING, **quiet(machine_id="t1"))
    name = kind.machine_class.__name__
    assert repr(machine) == f"<{name} 'ring' t1 in 'a'>"
    broken = kind.make(RING, policy=limits(max_transitions=1), machine_id="t2")
    kind.fire(broken, "next")
    kind.try_fire(broken, "next")
    assert repr(broken) == f"<{name} 'ring' t2 in 'b', circuit broken>"


def test_dir_lists_triggers_and_members(kind):
    machine = kind.make(RING, **quiet())
    assert {"next", "tick", "again", "finish"} <= set(dir(machine))
    assert {"fire", "state", "snapshot", "on_transition"} <= set(dir(machine))


def test_an_unknown_attribute_is_named(kind):
    machine = kind.make(RING, **quiet())
    name = kind.machine_class.__name__
    with pytest.raises(AttributeError, match=f"'{name}' has no attribute or trigger 'nxet'") as raised:
        machine.nxet  # noqa: B018 (looking is what is tested)
    assert (raised.value.name, raised.value.obj) == ("nxet", machine)
    assert not hasattr(machine, "nxet")
    assert not hasattr(machine, "_repr_png_")


def test_an_unfinished_machine_has_no_endless_recursion(kind):
    empty = object.__new__(kind.machine_class)
    with pytest.raises(AttributeError, match="_definition"):
        empty._definition  # noqa: B018 (looking is what is tested)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_point_to_the_snapshot(kind, how):  # case E04
    machine = kind.make(RING, **quiet())
    kind.fire(machine, "next")
    with pytest.raises(TypeError, match=r"cannot be copied or pickled.*snapshot\(\).*restore"):
        how(machine)
    assert machine.state == "b"


def test_jupyter_gets_a_picture_and_a_text(kind):
    machine = kind.make(RING, **quiet())
    kind.fire(machine, "next")
    bundle = machine._repr_mimebundle_(include=None, exclude=None)
    assert "image/svg+xml" in bundle or "text/plain" in bundle
    picture = next(iter(bundle.values()))
    assert isinstance(picture, str)
    assert "ring" in "".join(bundle.values()) or "next" in "".join(bundle.values())


def test_help_tells_what_a_trigger_does():
    told = inspect.getdoc(TaskExecution().request_tool_call)
    assert told.startswith("Fires 'request_tool_call': the same as fire('request_tool_call').")
    assert "executing -> tool_calling, if can_call_tool" in told
    assert repr(TaskExecution(machine_id="t1").cancel).startswith("<trigger 'cancel' of <TaskExecution")


def test_help_tells_of_rows_that_stay():
    machine = StateMachine(
        {
            "initial": "a",
            "states": ["a"],
            "transitions": [
                ["tick", "a", None],
                {"trigger": "tick", "source": "*", "dest": "=", "unless": "late"},
            ],
        },
        guards={"late": lambda event: False},
    )
    assert inspect.getdoc(machine.tick).splitlines()[-2:] == ["a stays", "* enters it again, if not late"]


def test_a_slip_in_a_triggers_name_has_a_hint():
    with pytest.raises(AttributeError, match="did you mean 'begin_execution'"):
        TaskExecution().begin_exekution()
