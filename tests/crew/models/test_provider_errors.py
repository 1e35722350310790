"""What can go wrong with a request: one sentence, no key, and when to try again."""

import asyncio
import logging

import pytest

from orkeon_transitions.crew import (
    load_crew,
)
from orkeon_transitions.crew.chat import ModelError
from orkeon_transitions.crew.models import ModelSettings
from orkeon_transitions.crew.models.provider_errors import in_one_sentence
from tests.crew.model_server import Cut, Hang, ModelServer, Raw, Status
from tests.crew.models.asking import KEY, asked, asked_once


def trouble(answer, **settings):
    with pytest.raises(ModelError) as raised:
        asked(answer, **settings)
    return raised.value


@pytest.mark.parametrize(
    ("answer", "words", "retry_after"),
    [
        (Status(500, "out of paper", {}), "failed (status 500): out of paper", 0.5),
        (Status(500, headers={"Retry-After": "3"}), "failed, and wants 3 s of rest (status 500)", 3),
        (Status(503, "overloaded", {}), "(status 503): overloaded", 0.5),
        (Status(429, "slow down", {"Retry-After": "7"}), "was asked too often, and wants 7 s of rest", 7),
        (Status(429, "slow down", {}), "was asked too often (status 429): slow down", 0.5),
        (Status(429, "slow down", {"Retry-After": "nonsense"}), "was asked too often", 0.5),
        (
            Status(401, "who are you?"),
            "did not accept the key, or it may not use this model (status 401)",
            None,
        ),
        (Status(403, "no"), "did not accept the key", None),
        (Status(402, "no money"), "quota or credit are used up", None),
        (Status(404, "no such model"), "is not known there (status 404): no such model", None),
        (Status(400, "bad request"), "did not accept the request (status 400): bad request", None),
        (Status(502, body=b"<html><h1>Bad Gateway</h1>nginx</html>", headers={}), "failed (status 502)", 0.5),
        (Status(500, body=b"\xff\xfe", headers={}), "failed (status 500)", 0.5),
        (Status(500, "x" * 5000, {}), "…", 0.5),
        (Raw(b"<html>hello</html>"), "something that is no answer of a model", 0.5),
        (Raw(b"{}"), "something that is no answer of a model", 0.5),
        (Raw(b"[]"), "something that is no answer of a model", 0.5),
        (Raw(b"\xff\xfe\x00"), "something that is no answer of a model", 0.5),
        (Raw(b'{"choices": []}'), "something that is no answer of a model", 0.5),
        (
            Raw(b'{"id": "x", "object": "chat.completion", "created": 1, "model": "x", "choices": []}'),
            "something that is no answer of a model",
            0.5,
        ),
        (Raw(b'{"choices": [{"message": 5}]}'), "something that is no answer of a model", 0.5),
        (Cut(), "broke the connection off", 0.5),
    ],
    ids=str,
)
def test_each_failure_is_one_sentence(answer, words, retry_after):
    error = trouble(answer)
    said = str(error)
    assert said.startswith("openai:x ")
    assert words in said
    assert error.retry_after == retry_after
    assert "\n" not in said
    assert "Traceback" not in said
    assert "<" not in said
    assert len(said) < 350
    assert error.__cause__ is None


def test_nobody_listens():
    with ModelServer() as server:
        address = server.url
    with pytest.raises(ModelError, match="could not be reached"):
        asyncio.run(asked_once(address))


def test_a_silent_server_is_given_up_after_the_timeout():
    error = trouble(Hang(), timeout=0.1)
    assert str(error) == "openai:x did not answer in time"


def test_each_attempt_is_one_request():
    with ModelServer(Status(500)) as server, pytest.raises(ModelError):
        asyncio.run(asked_once(server.url))
    assert len(server.asked) == 1


@pytest.mark.parametrize("code", [401, 429, 500, 400])
def test_no_key_is_in_any_message_or_log(monkeypatch, caplog, capfd, code):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    answer = Status(
        code,
        f"Incorrect API key provided: {KEY}; Bearer abcdefgh; sk-proj-another1234567",
        {"Retry-After": "0"},
    )
    with ModelServer(answer) as server:
        over = ModelSettings("openai:x", base_url=server.url)
        result = load_crew("agents:\n  a: {}\ntasks:\n  t: {description: d}\n").run_sync(model=over)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}", "it was told, and only there"
    heard = "".join(capfd.readouterr())
    for secret in (KEY, "abcdefgh", "another1234567"):
        assert secret not in result.error
        assert secret not in heard
    # Below, the library's own log at its most talkative may quote the server, but nobody's key.
    assert "***" in result.error
    assert f"Bearer {KEY}" not in caplog.text


def test_what_the_library_refuses_by_itself_is_one_sentence_too():
    from pydantic_ai.exceptions import ContentFilterError, UserError

    filtered = in_one_sentence("openai:x", ContentFilterError("stopped"))
    assert str(filtered) == "openai:x was kept from answering by its provider's content filter"
    assert filtered.retry_after is None
    refused = in_one_sentence("openai:x", UserError(f"Cannot do\nthis with {KEY}"), [KEY])
    assert (str(refused), refused.retry_after) == (
        "openai:x cannot be asked like this: Cannot do this with ***",
        None,
    )
    strange = in_one_sentence("openai:x", ZeroDivisionError("division by zero"))
    assert (str(strange), strange.retry_after) == (
        "openai:x cannot be asked like this: division by zero",
        0.5,
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Too\n long. "}}, ": Too long"),
        ({"error": "flat"}, ": flat"),
        ({"detail": [{"message": "listed"}]}, ": listed"),
        ("plain", ": plain"),
        ([], ""),
        (7, ""),
        ({"error": {"message": {"message": {"message": "too deep"}}}}, ""),
        ("\x1b[31mred\x07", ": [31mred"),
        ("see http://me:secret@host/v1", ": see http***host/v1"),
    ],
)
def test_what_a_provider_says_is_found_and_made_fit_to_be_shown(body, words):
    from pydantic_ai.exceptions import ModelHTTPError

    said = str(in_one_sentence("openai:x", ModelHTTPError(500, "x", body)))
    assert said == f"openai:x failed (status 500){words}"
