"""Whether an output may be accepted: declared rules, the program's own functions, schemas.

What belongs here: the rules as values, reading them from a crew file, and holding a text against them,
bounded in time whatever a pattern or a text is like. What never belongs here: a machine, a model, a person;
what is to be done about an output that is wrong is for the task's machine to say.
"""

from orkeon_transitions.crew.checks.checker import Checker, GuardrailFunction
from orkeon_transitions.crew.checks.rules import MOST_OUTPUT, Rule, json_of, unfenced

__all__ = ["MOST_OUTPUT", "Checker", "GuardrailFunction", "Rule", "json_of", "unfenced"]
