"""What went wrong with a request, in one sentence. Part of pydantic-ai's door; see `providers`.

A provider's own text is quoted in short and never whole, and what looks like a key is struck out of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any

from pydantic_ai import exceptions as errors

from orkeon_transitions.crew.chat import ModelError
from orkeon_transitions.crew.secrets import Secrets

SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|pplx|AIza)[-_][\w*.-]{6,}|AIza[\w-]{20,}|\bBearer\s+\S+|://[^/\s@]+@",
    re.IGNORECASE,
)
LONGEST_QUOTE = 200
MOST_READ = 10_000
STRUCK_OUT = "***"
# How long to wait before another attempt where the provider does not say.
SOON = 0.5

_KINDS: tuple[tuple[type[Exception], str, float | None], ...] = (
    # Which error, what the model has done, and when to try again; None: it would be in vain. The first that
    # fits counts, so what is more special comes before what is less.
    (errors.ModelRequestTimeout, "did not answer in time", SOON),
    (errors.ModelTimeoutError, "did not answer in time", SOON),
    (errors.ModelConnectionError, "broke the connection off before its answer was complete", SOON),
    (errors.ModelQuotaExceededError, "refused the request, since quota or credit are used up", None),
    (errors.ModelRateLimitError, "was asked too often", SOON),
    (errors.ModelAuthenticationError, "did not accept the key, or it may not use this model", None),
    (errors.ModelContextWindowExceededError, "cannot read a conversation as long as this one", None),
    (errors.ModelNotFoundError, "is not known there", None),
    (errors.ModelRequestRejectedError, "did not accept the request", None),
    (errors.ModelOverloadedError, "is overloaded", SOON),
    (errors.ModelHTTPError, "failed", SOON),
    (errors.ModelAPIError, "answered with something that is no answer of a model", SOON),
    (errors.ContentFilterError, "was kept from answering by its provider's content filter", None),
    (errors.UnexpectedModelBehavior, "answered with something that is no answer of a model", SOON),
    # The library looks for what has to be there, such as the first of the choices.
    (LookupError, "answered with something that is no answer of a model", SOON),
)


def in_one_sentence(name: str, error: Exception, secrets: Collection[str] = ()) -> ModelError:
    """Says what a request came to.

    Args:
        name: The model, as it was asked for.
        error: What was raised.
        secrets: Texts that no message may hold.
    """
    for kind, words, again in _KINDS:
        if isinstance(error, kind) and isinstance(error, errors.ModelAPIError):
            return _told(name, error, words, again, secrets)
        if isinstance(error, kind):
            return ModelError(f"{name} {words}", retry_after=again)
    return ModelError(
        f"{name} cannot be asked like this: {_short(str(error), secrets)}",
        retry_after=None if isinstance(error, errors.UserError) else SOON,
    )


def _told(
    name: str, error: errors.ModelAPIError, words: str, again: float | None, secrets: Collection[str]
) -> ModelError:
    """The sentence, the status, and what the provider itself says."""
    if isinstance(error, errors.ModelConnectionError) and error.phase in {"connect", "pool"}:
        words = "could not be reached: is the address right, and does it listen?"
    asked = error.retry_after
    if again is not None and asked is not None and math.isfinite(asked):
        again = max(0.0, asked)
        words += f", and wants {again:g} s of rest" if again else ""
    status = f" (status {error.status_code})" if isinstance(error, errors.ModelHTTPError) else ""
    quoted = _words_of(error.body, secrets)
    sentence = f"{name} {words}{status}{': ' if quoted else ''}{quoted}"
    return ModelError(sentence, retry_after=again)


def _words_of(body: Any, secrets: Collection[str]) -> str:
    """The message in the body of an answer, wherever it stands there."""
    for _ in range(3):
        if isinstance(body, dict):
            body = body.get("message") or body.get("error") or body.get("detail")
        elif isinstance(body, list) and body:
            body = body[0]
    return _short(body, secrets) if isinstance(body, str) else ""


def _short(text: str, secrets: Collection[str]) -> str:
    """A text in one line, without markup that some proxy has sent in place of an answer.

    It is cut last: half a key would not be known as one.
    """
    clean = _clean(Secrets(secrets).hidden(text, STRUCK_OUT), secrets)
    line = " ".join(re.sub(r"<[^>]*>", " ", clean[:MOST_READ]).split())
    line = "".join(char for char in line if char.isprintable())
    line = line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return line.rstrip(". ")


def _clean(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, STRUCK_OUT)
    return SECRET.sub(STRUCK_OUT, text[: 2 * MOST_READ])
