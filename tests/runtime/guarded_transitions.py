"""A pytest plugin: machine classes that are imported from `transitions` have the mixin, with all limits off.

The package's own modules keep their classes (their methods say `super(Machine, self)`). What is imported from
now on comes from stand-ins of these modules, in which each machine class is a guarded one of the same name.
"""

import sys
from types import ModuleType

from transitions.core import Machine

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin

LIMITS_OFF = CircuitBreakerPolicy(
    max_transitions=0, state_timeout=0, max_state_visits=0, max_total_duration=0
)

# The mixin has imported `transitions.extensions`, and with it every module that has a machine class.
MODULES = [name for name in sys.modules if name == "transitions" or name.startswith("transitions.")]


def _init(self, *args, **kwargs):
    kwargs.setdefault("circuit_breaker", LIMITS_OFF)
    CircuitBreakerMixin.__init__(self, *args, **kwargs)


def _guarded(stock):
    names = {"__module__": stock.__module__, "__qualname__": stock.__qualname__, "__doc__": stock.__doc__}
    return type(stock.__name__, (CircuitBreakerMixin, stock), {**names, "__init__": _init})


def _stand_in(name, guarded):
    real = sys.modules[name]
    module = ModuleType(name, real.__doc__)
    module.__dict__.update(real.__dict__)
    for attribute, value in vars(real).items():
        if isinstance(value, type) and issubclass(value, Machine):
            if value not in guarded:
                guarded[value] = _guarded(value)
            setattr(module, attribute, guarded[value])
    return module


def install():
    """Replaces the modules of `transitions`, and what its factory gives."""
    guarded = {}
    stand_ins = {name: _stand_in(name, guarded) for name in MODULES}
    for name, module in stand_ins.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(stand_ins[parent], child, module)
    class_map = sys.modules["transitions.extensions.factory"]._CLASS_MAP
    for key, stock in class_map.items():
        class_map[key] = guarded[stock]
    sys.modules.update(stand_ins)


install()
