"""The one door to httpx: a request to a host that may be asked, over an address that was looked at.

A host's name is resolved once for each request, every address is judged, and the connection goes to one of
those very addresses: what the name means a moment later makes no difference. Each redirect is a new request.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import httpx

from orkeon_transitions.crew.tool import ToolError
from orkeon_transitions.crew.web.addresses import refused_among
from orkeon_transitions.crew.web.block import DEFAULT_PORTS, WebBlock

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

AGENT = "orkeon-transitions"
# What belongs to the connection, and so to us.
OURS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "expect", "trailer"}
)
_NAME = re.compile(r"[!#$%&'*+.^`|~\w-]+", re.ASCII)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OTHER_ORIGIN = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a host.

    Attributes:
        url: Where.
        method: How, in capitals.
        headers: What else is said.
        body: What is sent, or None.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What came back.

    Attributes:
        url: Where it came from, after all redirects.
        status: Such as 200.
        reason: Such as `OK`.
        content_type: As the host names it, or empty.
        body: At most as long as is allowed.
        is_cut: Whether there was more.
    """

    url: str
    status: int
    reason: str
    content_type: str
    body: bytes
    is_cut: bool


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host.

    Raises:
        ToolError: There is no such host.
        OSError: It cannot be told now.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_NONAME:
            raise ToolError(f"there is no host '{host}'") from None
        raise
    except UnicodeError:
        raise ToolError(f"there is no host '{host}'") from None
    return list(dict.fromkeys(str(one[4][0]) for one in found))


async def fetched(request: Request, block: WebBlock, resolve: Resolve = resolved) -> Page:
    """Makes a request and those to which it is redirected.

    Args:
        request: What is asked.
        block: What may be asked.
        resolve: Gives the addresses of a host.

    Raises:
        ToolError: It may not be asked, or the answer is none that can be read.
        TimeoutError: There was no answer in time.
        httpx.TransportError: The host cannot be reached, or broke off.
    """
    headers = _checked_headers(request.headers or {})
    try:
        async with asyncio.timeout(block.timeout) as limit:
            return await _followed(request, headers, block, resolve)
    except TimeoutError:
        if limit.expired():
            raise TimeoutError(f"no answer within {block.timeout:g} s") from None
        raise


async def _followed(request: Request, headers: dict[str, str], block: WebBlock, resolve: Resolve) -> Page:
    url, method, body = _url(request.url), request.method, request.body
    # Neither proxies nor credentials of the environment: they would lead around what was checked.
    async with httpx.AsyncClient(trust_env=False, timeout=block.timeout) as client:
        for _ in range(block.max_redirects + 1):
            _check_listed(url, block)
            sent = client.build_request(method, url, headers=headers, content=body)
            answer = await _sent(client, sent, url, block, resolve)
            if isinstance(answer, Page):
                return answer
            target = _url(str(answer.url))
            if answer.status == 303 or (answer.status in {301, 302} and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
                headers.pop("content-type", None)
            if _origin(target) != _origin(url):
                headers = {name: text for name, text in headers.items() if name not in _OTHER_ORIGIN}
            url = target
    raise ToolError(f"redirected more than {block.max_redirects} times, last to {_shown(url)}")


@dataclass(frozen=True, slots=True)
class _Redirect:
    status: int
    url: httpx.URL


async def _sent(
    client: httpx.AsyncClient, request: httpx.Request, url: httpx.URL, block: WebBlock, resolve: Resolve
) -> Page | _Redirect:
    """Sends a request to the first address that can be reached."""
    host, port = url.host, _port(url)
    addresses = await resolve(host, port)
    refused = refused_among(addresses, block.allow_private)
    if refused is not None:
        where = f"'{host}' is at {refused}, which" if refused != host else f"'{host}'"
        raise ToolError(f"{where} is no address of the open internet: 'allowPrivate' may allow it")
    if not addresses:
        raise ToolError(f"there is no host '{host}'")
    for number, address in enumerate(addresses, 1):
        pinned = client.build_request(
            request.method,
            url.copy_with(host=address),
            headers={**request.headers, "host": url.netloc.decode("ascii")},
            content=request.content or None,
            extensions={"sni_hostname": host},
        )
        try:
            response = await client.send(pinned, stream=True)
        except httpx.ConnectError:
            if number == len(addresses):
                raise
            continue
        try:
            return await _read(response, url, block)
        finally:
            await response.aclose()
    raise AssertionError("there is an address")


async def _read(response: httpx.Response, url: httpx.URL, block: WebBlock) -> Page | _Redirect:
    location = response.headers.get("location")
    if response.status_code in _REDIRECTS and location:
        try:
            return _Redirect(response.status_code, url.join(location))
        except httpx.InvalidURL:
            raise ToolError(f"{_shown(url)} redirects to what is no URL") from None
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ToolError(f"{_shown(url)} answers compressed, though it was asked not to")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > block.max_bytes:
            break
    return Page(
        url=str(url),
        status=response.status_code,
        reason=response.reason_phrase,
        content_type=response.headers.get("content-type", ""),
        body=bytes(body[: block.max_bytes]),
        is_cut=len(body) > block.max_bytes,
    )


def _url(text: str) -> httpx.URL:
    """Reads a URL; what is read here is what is checked and what is connected to.

    Raises:
        ToolError: It is none that can be asked.
    """
    try:
        url = httpx.URL(text.strip())
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
        raise ToolError("that is no URL") from None
    if url.scheme not in DEFAULT_PORTS or not url.host:
        raise ToolError(f"{_shown(url)} is refused: a URL begins with 'https://' or 'http://' and a host")
    if url.userinfo:
        raise ToolError(f"{_shown(url)} is refused: a URL must not hold a name or a password")
    return url.copy_with(fragment=None)


def _check_listed(url: httpx.URL, block: WebBlock) -> None:
    if not block.allows(url.scheme, url.raw_host.decode("ascii").strip("[]").lower(), _port(url)):
        raise ToolError(
            f"{_shown(url)} is refused: '{url.netloc.decode('ascii')}' is not on the list 'allow'"
        )


def _port(url: httpx.URL) -> int:
    return url.port or DEFAULT_PORTS[url.scheme]


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, _port(url)


def _shown(url: httpx.URL) -> str:
    """A URL without what may be secret in it."""
    bare = url.copy_with(query=None, fragment=None, userinfo=b"")
    return str(bare)[:200]


def _checked_headers(given: Mapping[str, str]) -> dict[str, str]:
    headers = {"user-agent": AGENT}
    for name, text in given.items():
        folded = name.strip().lower()
        if folded in OURS or folded.startswith("proxy-"):
            raise ToolError(f"the header '{name}' is not for you to set")
        if not _NAME.fullmatch(folded) or not text.isprintable() or not text.isascii():
            raise ToolError(f"the header '{name}' must be a name and one line of plain text")
        headers[folded] = text.strip()
    headers["accept-encoding"] = "identity"
    return headers
