"""Which model a run asks, on the command line."""

import pytest

from tests.crew.model_server import Hang, ModelServer, Status, calls, says

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def crew(folder, monkeypatch):
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    (folder / "crew.yaml").write_text(
        "name: tiny\ncircuitBreaker: {maxRetries: 1}\nagents:\n  a: {role: Writer}\n"
        "tasks:\n  t: {description: Say hello, agent: a}\n"
    )


def test_a_crew_asks_a_server(orkeon):
    with ModelServer(says("Hello from the server")) as server:
        done = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", server.url)
    assert done.code == 0
    assert "Hello from the server" in done.out
    assert server.asked[0]["model"] == "x"


def test_a_server_alone_is_asked_for_the_model_of_the_file(orkeon, folder):
    text = (folder / "crew.yaml").read_text()
    (folder / "crew.yaml").write_text(f"llm: {{model: openai:theirs, temperature: 0.1}}\n{text}")
    with ModelServer(says("Hello")) as server:
        assert orkeon("run", "crew.yaml", "--base-url", server.url).code == 0
    assert (server.asked[0]["model"], server.asked[0]["temperature"]) == ("theirs", 0.1)


def test_what_a_run_took_is_in_its_document(orkeon):
    with ModelServer(says("Hello")) as server:
        document = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", server.url, "--json").json
    usage = {"requests": 1, "failed_requests": 0, "input_tokens": 10, "output_tokens": 5}
    usage |= {"tool_calls": 0, "usd": 0.0}
    assert document["usage"] == document["tasks"][0]["usage"] == usage


@pytest.mark.parametrize("model", ["openai:gpt-5", "openai/gpt-5", "gpt-5"])
def test_a_missing_key_is_one_line(orkeon, model):
    done = orkeon("run", "crew.yaml", "--model", model)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: openai:gpt-5 needs a key: set OPENAI_API_KEY, "
        "or use the model that needs none (--model offline)\n"
    )


def test_a_model_in_a_file_that_wants_a_key_can_be_left_out(orkeon, folder):
    text = (folder / "crew.yaml").read_text()
    (folder / "crew.yaml").write_text(f"llm: openai:gpt-5\n{text}")
    assert orkeon("check", "crew.yaml").code == 0
    assert "OPENAI_API_KEY" in orkeon("run", "crew.yaml").err
    done = orkeon("run", "crew.yaml", "--model", "offline")
    assert done.code == 0
    assert "offline model" in done.out


def test_a_server_that_fails_is_one_sentence(orkeon, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(Status(500, f"no paper for {KEY}")) as server:
        done = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", server.url)
    assert done.code == 1
    assert "t: failed: openai:x failed (status 500): no paper for ***" in done.out
    assert "Traceback" not in done.out + done.err
    assert KEY not in done.out + done.err
    assert len(server.asked) == 2
    assert "(1 task, 2 model requests, 2 failed, 0 tool calls)" in done.out


def test_a_server_that_is_not_there_is_one_sentence(orkeon):
    with ModelServer() as server:
        address = server.url
    done = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", address)
    assert done.code == 1
    assert "openai:x could not be reached: is the address right, and does it listen?" in done.out


def test_a_hang_ends_with_the_state_s_time(orkeon, folder):
    text = (folder / "crew.yaml").read_text().replace("maxRetries: 1", "stateTimeoutSeconds: 0.3")
    (folder / "crew.yaml").write_text(text)
    with ModelServer(Hang()) as server:
        done = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", server.url)
    assert done.code == 3
    assert "State timeout exceeded" in done.out


def test_a_run_goes_on_with_another_model(orkeon):
    store = "sqlite:///runs.db"
    with ModelServer(Status(401, "no")) as server:
        asked = ("--model", "openai:x", "--base-url", server.url)
        assert orkeon("run", "crew.yaml", *asked, "--store", store, "--run-id", "r").code == 1
    done = orkeon("resume", "r", "--store", store, "--model", "opnai:x")
    assert done.code == 2
    assert "did you mean 'openai'?" in done.err


def test_a_tool_that_nobody_has_never_runs(orkeon):
    with ModelServer(calls(("rm -rf /", {})), says("Then not")) as server:
        done = orkeon("run", "crew.yaml", "--model", "openai:x", "--base-url", server.url)
    assert done.code == 0
    assert "Then not" in done.out


def test_there_is_one_model_to_fetch(orkeon):
    assert orkeon("model", "pull", "big").code == 2
    assert "pull" in orkeon("model", "--help").out
    assert "127 MB" in orkeon("model", "pull", "--help").out
