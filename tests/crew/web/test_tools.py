"""`http_api` and `web_scrape`, as agents use them."""

import json
import time

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.errors import OrkeonError
from tests.crew.scripted import ScriptedModel, calls, one_answer_each, path_of
from tests.crew.web.web_server import cut, endless, page, serving


def crew_with(tool, server, *, breaker="", web=""):
    return load_crew(
        f"circuitBreaker: {{{breaker}}}\n"
        f"web: {{allow: 'localhost:{server.port}', allowPrivate: [127.0.0.1, '::1']{web}}}\n"
        f"agents: {{a: {{tools: [{tool}]}}}}\ntasks: {{t: {{description: d}}}}\n"
    )


def answer(tool, server, path, web="", **arguments):
    url = f"http://localhost:{server.port}/{path}"
    model = ScriptedModel(calls((tool, {"url": url, **arguments})), "done")
    result = crew_with(tool, server, web=web).run_sync(model=model)
    assert result.success, result.error
    assert result.tasks["t"].attempts == 1
    (answered,) = model.answers
    return answered


def test_a_page_is_scraped():
    text = "<html><head><title>Tea &amp; cake</title></head><body><h1>Menu</h1><p>One<p>Two</body>"
    with serving(x=page(text), y=page("plain <b>"), z=page("")) as server:
        server.routes["/y"] = page("plain <b>", "text/plain")
        assert answer("web_scrape", server, "x") == "# Tea & cake\n\nMenu\n\nOne\nTwo"
        assert answer("web_scrape", server, "y") == "plain <b>"
        assert answer("web_scrape", server, "z") == "[no text]"
        assert "[cut: more than 60 bytes]" in answer("web_scrape", server, "x", ", maxBytes: 60")
    assert server.seen[0][0] == "GET"


def test_what_cannot_be_scraped_is_an_answer():
    with serving(x=page("gone", status=404), y=page(b"\x89PNG", "image/png"), z=page(b"\0", None)) as server:
        assert answer("web_scrape", server, "x") == "error: HTTP 404 Not Found"
        assert answer("web_scrape", server, "y") == "error: no page but image/png"
        assert answer("web_scrape", server, "z") == "error: no page but something that is no text"


def test_an_api_is_asked():
    def echo(handler):
        method, path, headers, body = handler.server.seen[-1]
        said = {"method": method, "path": path, "body": body.decode(), "type": headers.get("content-type")}
        handler.reply(201, json.dumps(said).encode(), "application/json")

    with serving(x=echo) as server:
        head, kind, _, body = answer("http_api", server, "x?q=1").split("\n")
        assert (head, kind) == ("HTTP 201 Created", "application/json")
        assert json.loads(body) == {"method": "GET", "path": "/x?q=1", "body": "", "type": None}
        sent = {"method": "post", "body": '{"a": 1}', "headers": {"X-A": "b"}}
        said = json.loads(answer("http_api", server, "x", ", methods: [POST]", **sent).split("\n")[3])
        assert said == {"method": "POST", "path": "/x", "body": '{"a": 1}', "type": "application/json"}
        assert server.seen[-1][2]["x-a"] == "b"
        answer("http_api", server, "x", ", methods: [PUT]", method="PUT", body="words")
        assert server.seen[-1][2]["content-type"].startswith("text/plain")
        answer(
            "http_api",
            server,
            "x",
            ", methods: [PUT]",
            method="PUT",
            headers={"content-type": "a/b"},
            body="",
        )
        assert server.seen[-1][2]["content-type"] == "a/b"


def test_an_error_of_an_api_is_an_answer():
    with serving(x=page('{"why": "busy"}', "application/json", 503)) as server:
        assert answer("http_api", server, "x").startswith("HTTP 503 Service Unavailable")
        assert answer("http_api", server, "x", method="DELETE") == "error: 'DELETE' is refused: there is GET"


def test_what_is_no_text_is_left_out():
    with serving(x=page(b"\0\1", "application/octet-stream"), y=page("t", None)) as server:
        assert answer("http_api", server, "x").endswith("[left out: 2 bytes that are no text]")
        assert answer("http_api", server, "y") == "HTTP 200 OK\nno content type\n\nt"


def test_too_long_an_answer_is_cut():
    with serving(x=endless) as server:
        assert answer("http_api", server, "x", ", maxBytes: 1000").endswith("\n[cut: more than 1,000 bytes]")
        assert "more characters]" in answer("http_api", server, "x")


def test_a_host_that_is_not_listed_is_an_answer_and_never_asked():
    with serving(x=page("never")) as server:
        model = ScriptedModel(
            calls(
                ("http_api", {"url": "http://169.254.169.254/latest/meta-data"}),
                ("http_api", {"url": f"http://127.0.0.1:{server.port}/x"}),
                ("http_api", {"url": 7}),
                ("http_api", {}),
            ),
            "done",
        )
        assert crew_with("http_api", server).run_sync(model=model).success
    assert all(text.startswith("error: ") for text in model.answers)
    assert server.seen == []


def test_something_that_may_happen_once_only_is_sent_with_one_key():
    def cut_once(handler):
        if len(handler.server.seen) == 1:
            return cut(handler)
        return handler.reply(200, b"paid")

    with serving(pay=cut_once) as server:
        call = ("http_api", {"url": f"http://localhost:{server.port}/pay", "method": "POST", "body": "1 EUR"})
        model = ScriptedModel(calls(call), calls(call), calls(call), "done")
        result = crew_with("http_api", server, web=", methods: [POST]").run_sync(model=model)
    assert result.success
    assert result.tasks["t"].attempts == 2
    first, again, another = (headers["idempotency-key"] for _, _, headers, _ in server.seen)
    assert first == again != another


def test_a_connection_that_is_always_cut_costs_the_retries():
    with serving(x=cut) as server:
        model = ScriptedModel(calls(("http_api", {"url": f"http://localhost:{server.port}/x"})))
        result = crew_with("http_api", server, breaker="maxRetries: 2").run_sync(model=model)
    assert (result.status, len(server.seen)) == ("failed", 3)
    assert "tool 'http_api' could not be run" in result.error
    assert one_answer_each(model.asked[-1])
    assert path_of(result.tasks["t"]).count("tool_calling") == 3


def test_a_host_that_hangs_is_for_the_shorter_of_both_clocks():
    with serving(x=lambda handler: handler.server.over.wait(20)) as server:
        model = ScriptedModel(calls(("web_scrape", {"url": f"http://localhost:{server.port}/x"})))
        before = time.monotonic()
        own = crew_with("web_scrape", server, web=", timeoutSeconds: 0.3", breaker="maxRetries: 0")
        assert "no answer within 0.3 s" in own.run_sync(model=model).error
        state = crew_with("web_scrape", server, breaker="stateTimeoutSeconds: 0.3").run_sync(model=model)
        assert (state.status, "State timeout" in state.error) == ("degraded", True)
        assert time.monotonic() - before < 8


def test_without_the_package_the_extra_is_named_before_anything_begins(monkeypatch):
    monkeypatch.setattr("orkeon_transitions.crew.web.tools.find_spec", lambda name: None)
    with serving() as server:
        with pytest.raises(OrkeonError, match=r"pip install 'orkeon-transitions\[web\]'"):
            crew_with("http_api", server).run_sync(model=ScriptedModel("never"))
        assert crew_with("json_tool", server).run_sync(model=ScriptedModel("done")).success
