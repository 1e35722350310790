"""The tools that reach out: `http_api` and `web_scrape`, for crews whose file says what they may reach."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

from pydantic import Field

from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.crew.tool import IdempotencyKey, Tool, ToolError, tool
from orkeon_transitions.crew.web.block import WebBlock
from orkeon_transitions.crew.web.reading import decoded, readable
from orkeon_transitions.errors import MissingExtraError

WEB_NAMES = ("http_api", "web_scrape")

Url = Annotated[str, Field(description="The URL, with https://", json_schema_extra={"format": "uri"})]
Headers = Annotated[dict[str, str] | None, Field(description="Headers by name")]
Body = Annotated[str | None, Field(description="What is sent, such as JSON text")]


def check_web_tools() -> None:
    """Sees to it that these tools can work.

    Raises:
        MissingExtraError: The package for it is not installed.
    """
    if find_spec("httpx") is None:
        raise MissingExtraError("The crew names tools that reach out to the web.", extra="web")


def web_tools(block: WebBlock | None) -> dict[str, Tool]:
    """Makes these tools, by name, for what a crew may reach; none if it may reach nothing."""
    if block is None:
        return {}

    @tool
    async def http_api(
        url: Url,
        key: IdempotencyKey,
        method: str = "GET",
        headers: Headers = None,
        body: Body = None,
    ) -> str:
        """Makes a request to an HTTP API and gives status, content type and body."""
        from orkeon_transitions.crew.web.fetching import Request, fetched  # noqa: PLC0415 - loads httpx

        verb = method.strip().upper()
        if verb not in block.methods:
            raise ToolError(f"'{method}' is refused: there is {', '.join(block.methods)}")
        said = dict(headers or {})
        if verb not in {"GET", "HEAD", "OPTIONS"}:
            # The same for a call that is made again because nobody knows whether it was done.
            said["Idempotency-Key"] = key
        if body is not None and not any(name.lower() == "content-type" for name in said):
            said["Content-Type"] = (
                "application/json" if _looks_like_json(body) else "text/plain; charset=utf-8"
            )
        sent = None if body is None else body.encode(errors="replace")
        page = await fetched(Request(url, verb, said, sent), block)
        head = f"HTTP {page.status} {page.reason}".strip()
        kind = page.content_type or "no content type"
        if not _is_text(page.content_type, page.body):
            return f"{head}\n{kind}\n\n[left out: {len(page.body):,} bytes that are no text]"
        return f"{head}\n{kind}\n\n{decoded(page.body, page.content_type)}{_cut(page.is_cut, block)}"

    @tool
    async def web_scrape(url: Url) -> str:
        """Reads a page of the web and gives its title and its text."""
        from orkeon_transitions.crew.web.fetching import Request, fetched  # noqa: PLC0415 - loads httpx

        page = await fetched(Request(url, headers={"Accept": "text/html, text/plain;q=0.9"}), block)
        if page.status >= 400:
            raise ToolError(f"HTTP {page.status} {page.reason}".strip())
        if not _is_text(page.content_type, page.body):
            raise ToolError(f"no page but {page.content_type or 'something that is no text'}")
        text = decoded(page.body, page.content_type)
        if "html" in page.content_type.lower() or not page.content_type:
            # A long page takes a while: the clocks must not wait for it.
            title, text = await call_anything(readable, text)
            text = "\n\n".join(filter(None, [f"# {title}" if title else "", text]))
        return (text or "[no text]") + _cut(page.is_cut, block)

    return {made.name: made for made in (http_api, web_scrape)}


def _cut(is_cut: bool, block: WebBlock) -> str:
    return f"\n[cut: more than {block.max_bytes:,} bytes]" if is_cut else ""


def _looks_like_json(body: str) -> bool:
    return body.lstrip()[:1] in {"{", "["}


def _is_text(content_type: str, body: bytes) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("text/") or kind.endswith(
        ("json", "xml", "javascript", "x-www-form-urlencoded", "yaml")
    ):
        return True
    return not kind and b"\0" not in body
