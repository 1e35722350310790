"""Requests: to hosts on the list only, over addresses that were looked at, within limits."""

import asyncio
import datetime
import ipaddress
import socket
import ssl
import time
from functools import partial
from ipaddress import ip_network

import httpx
import pytest

from orkeon_transitions.crew import ToolError
from orkeon_transitions.crew.web import WebBlock, fetching
from orkeon_transitions.crew.web.block import Allowed
from orkeon_transitions.crew.web.fetching import Request, fetched, resolved
from tests.crew.web.web_server import cut, dripping, endless, page, redirect, serving

LOOPBACK = (ip_network("127.0.0.0/8"),)


def block(*allow, private=LOOPBACK, **more):
    return WebBlock(allow=tuple(map(Allowed.parse, allow)), allow_private=private, **more)


class Names:
    """Names that mean what the test says, one meaning after another; the last one stays."""

    def __init__(self, **names):
        self.names = {name.replace("_", "."): list(meanings) for name, meanings in names.items()}
        self.asked = []

    async def __call__(self, host, port):
        self.asked.append(host)
        meanings = self.names[host]
        return meanings.pop(0) if len(meanings) > 1 else meanings[0]


def get(url, allowed, resolve=resolved, **more):
    return asyncio.run(fetched(Request(url, **more), allowed, resolve))


def refusal(url, allowed, resolve=resolved, **more):
    with pytest.raises(ToolError) as raised:
        get(url, allowed, resolve, **more)
    return str(raised.value)


def test_a_page_is_read():
    with serving(x=page("hello", "text/plain")) as server:
        got = get(f"http://localhost:{server.port}/x?a=b#c", block(f"localhost:{server.port}"))
    assert (got.status, got.reason, got.body, got.content_type) == (200, "OK", b"hello", "text/plain")
    assert (got.is_cut, got.url) == (False, f"http://localhost:{server.port}/x?a=b")
    ((method, path, headers, _),) = server.seen
    assert (method, path, headers["host"]) == ("GET", "/x?a=b", f"localhost:{server.port}")


def test_nothing_of_the_environment_has_a_say(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(x=page("hello")) as server:
        assert get(f"http://localhost:{server.port}/x", block(f"localhost:{server.port}")).body == b"hello"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://other.example/",
            "http://localhost:{}@other.example/",
            "https://localhost:{}/",
            "http://localhost/",
        ),
        *("http://localhost:1/", "http://localhost.other.example:{}/", "http://LOCALHOST.:{}/"),
        *(
            "ftp://localhost:{}/",
            "file:///etc/passwd",
            "localhost:{}",
            "//localhost:{}/",
            "",
            "http://",
            "http://[",
        ),
        *(
            "http://user:secret@localhost:{}/",
            "http://loc\nalhost:{}/",
            "javascript:alert(1)",
            "http://[::1]:{}/",
        ),
        *("http://127.0.0.1:{}/", "http://localhost:{}\\@other.example/", "http://a b/", "http://\x00/"),
    ],
)
def test_what_is_not_on_the_list_is_refused_before_anything_is_asked(url):
    with serving(x=page("hello")) as server:
        names = Names(localhost=[["127.0.0.1"]])
        words = refusal(url.format(server.port), block(f"http://localhost:{server.port}"), names)
    assert (names.asked, server.seen) == ([], [])
    assert "secret" not in words


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0.0.0.0", "localhost"),
        *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::]", "169.254.169.254"),
        *("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1", "[fe80::1%25eth0]", "[fd00::1]"),
    ],
)
def test_no_spelling_of_a_private_address_is_reached(host):
    words = refusal(f"http://{host}/", block("*", private=()))
    assert "no address of the open internet" in words or "there is no host" in words or "no URL" in words


def test_a_name_is_refused_if_any_of_its_addresses_is_private():
    names = Names(two_example=[["93.184.216.34", "10.0.0.1"]])
    assert "'two.example' is at 10.0.0.1" in refusal("http://two.example/", block("*", private=()), names)


def test_a_name_that_means_something_else_a_moment_later_is_connected_to_what_was_checked():
    with serving(x=page("checked")) as server:
        # A second look would lead to 127.0.0.9, where nobody listens.
        names = Names(rebinding_example=[["127.0.0.1"], ["127.0.0.9"]])
        got = get(f"http://rebinding.example:{server.port}/x", block(f"*.example:{server.port}"), names)
    assert (got.body, names.asked) == (b"checked", ["rebinding.example"])
    assert server.seen[0][2]["host"] == f"rebinding.example:{server.port}"


def test_a_name_that_turns_private_is_refused_at_the_next_request():
    with serving(x=redirect("/y"), y=page("never")) as server:
        names = Names(turning_example=[["127.0.0.1"], ["127.0.0.2"]])
        allowed = block(f"turning.example:{server.port}", private=(ip_network("127.0.0.1/32"),))
        words = refusal(f"http://turning.example:{server.port}/x", allowed, names)
    assert "'turning.example' is at 127.0.0.2" in words
    assert [path for _, path, *_ in server.seen] == ["/x"]


def test_the_next_address_is_tried_where_nobody_listens():
    with serving(x=page("hello")) as server:
        names = Names(two_example=[["127.0.0.2", "127.0.0.1"]])
        assert get(f"http://two.example:{server.port}/x", block(f"*:{server.port}"), names).body == b"hello"
        names = Names(none_example=[["127.0.0.2", "127.0.0.3"]])
        with pytest.raises(httpx.ConnectError):
            get(f"http://none.example:{server.port}/x", block(f"*:{server.port}"), names)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"http://{'a' * 70}.example/", "there is no host 'aaa"),
        ("http://nowhere.example/", "there is no host 'nowhere.example'"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_answer(url, why):
    resolve = Names(nowhere_example=[[]]) if "nowhere" in url else resolved
    assert why in refusal(url, block("*"), resolve)


def test_ipv6_hosts_are_reached():
    try:
        context = serving("::1", x=page("six"))
        with context as server:
            allowed = block(f"[::1]:{server.port}", private=(ip_network("::1/128"),))
            assert get(f"http://[::1]:{server.port}/x", allowed).body == b"six"
            assert server.seen[0][2]["host"] == f"[::1]:{server.port}"
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")


@pytest.mark.parametrize(
    "target",
    [
        *("http://127.0.0.1:{}/y", "http://localhost:1/y", "http://other.example/", "//other.example/y"),
        *(
            "file:///etc/passwd",
            "http://[",
            "http://user:pw@localhost:{}/y",
            "gopher://localhost:{}/",
            "http://[::1]:{}/",
        ),
    ],
)
def test_every_redirect_is_judged_like_the_first_request(target):
    with serving(y=page("never")) as server:
        server.routes["/x"] = redirect(target.format(server.port))
        refusal(f"http://localhost:{server.port}/x", block(f"localhost:{server.port}"))
    assert [path for _, path, *_ in server.seen] == ["/x"]


def test_redirects_are_followed_as_often_as_is_said():
    with serving(a=redirect("b"), b=redirect("/c?d=e", 307), c=page("end")) as server:
        allowed = block(f"localhost:{server.port}", max_redirects=2)
        assert get(f"http://localhost:{server.port}/a", allowed).body == b"end"
        words = refusal(
            f"http://localhost:{server.port}/a", block(f"localhost:{server.port}", max_redirects=1)
        )
        assert words.startswith("redirected more than 1 times")
        server.routes["/loop"] = redirect("/loop")
        assert "redirected more than 5" in refusal(
            f"http://localhost:{server.port}/loop", block(f"*:{server.port}")
        )


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_what_is_sent_goes_along_only_where_it_should(status, method):
    with serving(x=redirect("/y", status), y=page("end")) as server:
        get(
            f"http://localhost:{server.port}/x",
            block(f"localhost:{server.port}"),
            method="POST",
            body=b"data",
            headers={"Content-Type": "text/plain"},
        )
    assert [(one[0], one[3]) for one in server.seen] == [
        ("POST", b"data"),
        (method, b"data" if method == "POST" else b""),
    ]


def test_credentials_do_not_go_along_to_another_host():
    with serving(y=page("end")) as server:
        names = Names(a_example=[["127.0.0.1"]], b_example=[["127.0.0.1"]])
        server.routes["/x"] = redirect(f"http://b.example:{server.port}/y")
        given = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Other": "stays"}
        get(f"http://a.example:{server.port}/x", block(f"*:{server.port}"), names, headers=given)
    first, second = (headers for _, _, headers, _ in server.seen)
    assert (first["authorization"], first["cookie"]) == ("Bearer x", "a=b")
    assert not {"authorization", "cookie"} & second.keys()
    assert second["x-other"] == "stays"


def test_an_answer_is_read_as_far_as_is_allowed():
    with serving(x=endless, y=page("x" * 11)) as server:
        allowed = block(f"localhost:{server.port}", max_bytes=10)
        for path in ("x", "y"):
            got = get(f"http://localhost:{server.port}/{path}", allowed)
            assert (len(got.body), got.is_cut) == (10, True)
        server.routes["/y"] = page("x" * 10)
        assert not get(f"http://localhost:{server.port}/y", allowed).is_cut


def test_compressed_answers_are_not_opened():
    with serving(x=page(b"\x1f\x8b", Content_Encoding="gzip")) as server:
        words = refusal(f"http://localhost:{server.port}/x", block(f"localhost:{server.port}"))
    assert "answers compressed" in words
    assert server.seen[0][2]["accept-encoding"] == "identity"


@pytest.mark.parametrize("route", [dripping, lambda handler: handler.server.over.wait(10)])
def test_an_answer_has_to_come_in_time_all_of_it(route):
    before = time.monotonic()
    with serving(x=route) as server, pytest.raises(TimeoutError, match=r"no answer within 0\.5 s"):
        get(f"http://localhost:{server.port}/x", block(f"localhost:{server.port}", timeout=0.5))
    assert time.monotonic() - before < 5


def test_a_connection_that_is_cut_is_no_answer():
    with serving(x=cut) as server, pytest.raises(httpx.TransportError):
        get(f"http://localhost:{server.port}/x", block(f"localhost:{server.port}"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Host", "x"),
        ("Content-Length", "1"),
        ("proxy-authorization", "x"),
        ("X", "a\r\nY: b"),
        ("a b", "c"),
        ("X", "ü"),
    ],
)
def test_some_headers_are_not_for_models_to_set(name, text):
    words = refusal("http://localhost/", block("localhost"), headers={name: text})
    assert f"the header '{name}'" in words


def test_a_host_that_is_not_there_is_an_answer(monkeypatch):
    async def nothing(self, *args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", nothing)
    assert refusal("http://no.example/", block("*")) == "there is no host 'no.example'"

    async def later(self, *args, **kwargs):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", later)
    with pytest.raises(OSError, match="Temporary failure"):
        get("http://no.example/", block("*"))


def certificate(folder, name):
    """A certificate for a name, signed by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


def test_a_certificate_is_held_against_the_name_and_not_the_address(tmp_path, monkeypatch):
    file = certificate(tmp_path, "secure.example")
    trusting = ssl.create_default_context(cafile=file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    names = Names(secure_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    with serving(x=page("secret")) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        allowed = block(f"*:{server.port}")
        with pytest.raises(httpx.ConnectError):
            get(f"https://secure.example:{server.port}/x", allowed, names)
        monkeypatch.setattr(fetching.httpx, "AsyncClient", partial(httpx.AsyncClient, verify=trusting))
        assert get(f"https://secure.example:{server.port}/x", allowed, names).body == b"secret"
        with pytest.raises(httpx.ConnectError):
            get(f"https://other.example:{server.port}/x", allowed, names)


def test_addresses_are_addresses():
    found = asyncio.run(resolved("localhost", 80))
    assert found
    assert all(ipaddress.ip_address(one.partition("%")[0]).is_loopback for one in found)
