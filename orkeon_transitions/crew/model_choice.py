"""The models of one run, chosen and looked at before anything is begun."""

from __future__ import annotations

from orkeon_transitions.crew.chat import ChatModel
from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.models.choosing import ChosenModels, ModelChooser
from orkeon_transitions.crew.models.settings import ModelSettings
from orkeon_transitions.crew.resolution import running_limits
from orkeon_transitions.errors import OrkeonError

Model = str | ModelSettings | ChatModel | ModelChooser
"""What a program may name as the model of a run."""


def chosen(config: CrewConfig, model: Model | None) -> ChatModel | ModelChooser:
    """The model of a run, or who chooses it.

    Args:
        config: The crew.
        model: What the program wants, or None: what the file says.

    Raises:
        MissingKeyError: A model wants a key, and there is none.
        MissingExtraError: What a model takes is not installed.
        ModelNameError: A name is none of a model.
        OrkeonError: A task counts dollars, and nobody knows what its model costs.
        TypeError: It is nothing of what may be named.
    """
    if isinstance(model, ModelChooser | ChatModel):
        return model
    if model is not None and not isinstance(model, str | ModelSettings):
        raise TypeError(f"a model has an async reply(messages, tools), {type(model).__name__} has not")
    models = ChosenModels.of(config, None if model is None else ModelSettings.of(model))
    for agent, task in models.pairs(config):
        is_priced = getattr(models.model_for(agent, task), "has_price", True)
        if not is_priced and "usd" in running_limits(config, task).policy.meters:
            name = models.settings_for(agent, task).name
            raise OrkeonError(
                f"task '{task.id}' counts dollars, and what {name} costs is not known: "
                "write its 'price' into 'llm', or count 'tokens'"
            )
    return models
