"""Language models: which one an agent is given, with what settings, and how it is asked.

What belongs here: the names and settings of models, merged from crew, agent and task; the choice between
them; a door to each library that knows models, which translates its messages to the room's own and its errors
to one sentence: `providers` for pydantic-ai, `local` for xllamacpp. What never belongs here: a retry (each
attempt is a transition of the task's machine), a key in a message, an import of those libraries before a
model of theirs is asked for.
"""

from orkeon_transitions.crew.models.choosing import ChosenModels, ModelChooser
from orkeon_transitions.crew.models.names import OFFLINE, PROVIDERS, ModelNameError, full_name
from orkeon_transitions.crew.models.settings import ModelSettings, Price

__all__ = [
    "OFFLINE",
    "PROVIDERS",
    "ChosenModels",
    "ModelChooser",
    "ModelNameError",
    "ModelSettings",
    "Price",
    "full_name",
]
