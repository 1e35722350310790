"""The `web` block: what is read, and what is wrong with it."""

import jsonschema
import pytest

from orkeon_transitions.crew import crew_schema, load_crew
from orkeon_transitions.crew.web.block import Allowed
from tests.crew.crew_texts import problems_of

REST = "agents: {a: {}}\ntasks: {t: {description: d}}\n"


def test_all_of_it_is_read():
    web = load_crew(
        "web:\n  allow: ['*.Example.org', 'http://localhost:8080']\n  allowPrivate: 127.0.0.0/8\n"
        "  methods: [get, post]\n  maxBytes: 10\n  timeoutSeconds: 2.5\n  maxRedirects: 0\n" + REST
    ).config.web
    assert web.allow == (Allowed("*.example.org"), Allowed("localhost", "http", 8080))
    assert [str(network) for network in web.allow_private] == ["127.0.0.0/8"]
    assert (web.methods, web.max_bytes, web.timeout, web.max_redirects) == (("GET", "POST"), 10, 2.5, 0)


def test_it_is_off_unless_it_is_there():
    assert load_crew(REST).config.web is None
    assert load_crew("web: null\n" + REST).config.web is None
    web = load_crew("web: {allow: []}\n" + REST).config.web
    assert not web.allows("https", "example.org", 443)
    assert web.methods == ("GET",)


@pytest.mark.parametrize(
    ("entry", "fits", "others"),
    [
        ("example.org", ["https://example.org:443", "http://example.org:80"], ["https://example.org:8443"]),
        ("example.org", [], ["https://www.example.org:443", "https://badexample.org:443"]),
        ("*.example.org", ["https://a.example.org:443", "https://a.b.example.org:443"], []),
        ("*.example.org", [], ["https://example.org:443", "https://badexample.org:443"]),
        ("https://example.org", ["https://example.org:443"], ["http://example.org:80"]),
        ("example.org:8443", ["https://example.org:8443"], ["https://example.org:443"]),
        ("*", ["https://any.thing:443", "http://[::1]:80"], ["https://any.thing:22"]),
        ("[::1]:8080", ["http://[::1]:8080"], ["http://[::2]:8080"]),
        ("münchen.example", ["https://xn--mnchen-3ya.example:443"], []),
    ],
)
def test_an_entry_fits_its_hosts_and_no_others(entry, fits, others):
    allowed = Allowed.parse(entry)

    def is_fit(url):
        scheme, rest = url.split("://")
        host, _, port = rest.rpartition(":")
        return allowed.fits(scheme, host.strip("[]"), int(port))

    assert all(map(is_fit, fits))
    assert not any(map(is_fit, others))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("[a]", "must be a mapping with 'allow', not a list"),
        ("{}", "'allow' is missing: the hosts that may be asked"),
        ("{allow: [], alow: [a]}", "unknown key 'alow'"),
        ("{allow: [1]}", "must be text, not the number 1"),
        ("{allow: {a: b}}", "must be text, not a mapping"),
        ("{allow: 'https://example.org/path'}", "is no host such as"),
        ("{allow: 'a b'}", "is no host such as"),
        ("{allow: '*a.org'}", "is no host such as"),
        ("{allow: 'ftp://a.org'}", "is no host such as"),
        ("{allow: 'user@a.org'}", "is no host such as"),
        ("{allow: 'a.org:0'}", "is no host such as"),
        ("{allow: 'a.org:99999'}", "is no host such as"),
        ("{allow: a.org, allowPrivate: home}", "'home' is no network such as"),
        ("{allow: a.org, allowPrivate: 10.0.0.1/8}", "is no network such as"),
        ("{allow: a.org, methods: [FETCH]}", "'FETCH' is none of GET"),
        ("{allow: a.org, maxBytes: 0}", "must be more than 0"),
        ("{allow: a.org, maxBytes: many}", "must be a whole number"),
        ("{allow: a.org, timeoutSeconds: 0}", "must be more than 0"),
        ("{allow: a.org, maxRedirects: -1}", "0 or more"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(block, message):
    problem = problems_of(f"web: {block}\n{REST}")[0]
    assert message in problem.message
    assert (problem.line, problem.path.split(".")[0]) == (1, "web")


@pytest.mark.parametrize("tool", ["http_api", "web_scrape"])
def test_a_tool_that_is_off_is_refused_with_how_to_switch_it_on(tool):
    text = f"agents: {{a: {{tools: {tool}}}}}\ntasks: {{t: {{description: d}}}}\n"
    (problem,) = problems_of(text)
    assert problem.message.startswith(f"the tool '{tool}' is off: `web: {{allow: ")
    assert load_crew("web: {allow: a.org}\n" + text).agents["a"].tools == (tool,)


def test_the_schema_knows_the_block():
    schema = crew_schema()
    rest = {"agents": {"a": {}}, "tasks": {"t": {"description": "d"}}}
    web = {"allow": ["a.org"], "methods": ["GET"], "maxBytes": 1, "allow_private": "127.0.0.1"}
    jsonschema.validate({"web": web, **rest}, schema)
    for wrong in ({**web, "timeout": 0}, {"methods": ["GET"]}, {**web, "alow": []}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"web": wrong, **rest}, schema)
