"""What the tests of models share: one request to a server on the loopback, and a crew that asks one."""

import asyncio

from orkeon_transitions.crew import Message
from orkeon_transitions.crew.models import ModelSettings
from orkeon_transitions.crew.models.providers import provider_model
from tests.crew.model_server import ModelServer

KEY = "sk-test-0123456789abcdef"
TALK = (Message("system", "You are short."), Message("user", "Who is there?"))


def asked(script, messages=TALK, tools=(), *, on_text=None, times=1, **settings):
    """What a model of a server answers, and the server."""

    async def ask(server):
        model = provider_model(ModelSettings("openai:x", base_url=server.url, **settings))
        try:
            for _ in range(times):
                if on_text is None:
                    reply = await model.reply(messages, tools)
                else:
                    reply = await model.stream(messages, tools, on_text)
            return reply
        finally:
            await model.close()

    with ModelServer(*(script if isinstance(script, tuple) else (script,))) as server:
        return asyncio.run(ask(server)), server


def run_on(server, crew, **options):
    return crew.run_sync(model=ModelSettings("openai:x", base_url=server.url), **options)


async def asked_once(address):
    model = provider_model(ModelSettings("openai:x", base_url=address))
    try:
        return await model.reply(TALK, ())
    finally:
        await model.close()
