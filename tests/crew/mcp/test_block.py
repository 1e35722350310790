"""The `mcpServers` block: what is read, and what is wrong with it."""

import jsonschema
import pytest

from orkeon_transitions.crew import crew_schema, load_crew
from tests.crew.crew_texts import problems_of

REST = "agents: {a: {}}\ntasks: {t: {description: d}}\n"


def test_a_program_and_a_url_are_read():
    crew = load_crew(
        "mcpServers:\n"
        "  files: {type: stdio, command: npx, args: [-y, server, 8], env: {KEY: v}, cwd: sub, timeout: 5}\n"
        "  search: {transport: http, url: 'https://h/mcp', headers: {Authorization: 'B ${T}'}, tools: x}\n"
        + REST
    )
    files, search = crew.config.mcp_servers.values()
    assert (files.command, files.args, files.cwd, files.timeout) == ("npx", ("-y", "server", "8"), "sub", 5)
    assert (dict(files.env), files.tools, files.place) == ({"KEY": "v"}, None, "npx -y server 8")
    assert (search.url, search.tools, search.place) == ("https://h/mcp", ("x",), "https://h/mcp")
    assert search.missing_variables({}) == ["T"]
    assert search.missing_variables({"T": ""}) == []
    starts, gives = crew.findings
    assert (starts.severity, starts.code, starts.line) == ("note", "starts-program", 2)
    assert starts.message == "a run that needs it starts the program 'npx'"
    assert (gives.severity, gives.code, gives.line) == ("note", "gives-variables", 3)
    assert gives.message == "a run that needs it gives it T of your environment"


def test_none_is_fine():
    assert load_crew("mcpServers: null\n" + REST).config.mcp_servers == {}
    assert load_crew("mcp_servers: {}\n" + REST).config.mcp_servers == {}


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("[a]", "must be a mapping of names to servers, not a list"),
        ("{s: x}", "must be a mapping with a 'command' or a 'url', not the text 'x'"),
        ("{'a b': {command: x}}", "the name of a server has letters, digits, '_' and '-' only"),
        ("{a.b: {command: x}}", "the name of a server has letters"),
        ("{s: {}}", "a server has a 'command' or a 'url': this one is missing"),
        ("{s: {command: x, url: 'http://h'}}", "a server has a 'command' or a 'url': this one has both"),
        ("{s: {comand: x, url: 'http://h'}}", "unknown key 'comand'"),
        ("{s: {command: x, headers: {a: b}}}", "'headers' goes with a 'url'"),
        ("{s: {url: 'http://h', env: {a: b}}}", "'env' goes with a 'command'"),
        ("{s: {url: 'http://h', args: [a]}}", "'args' goes with a 'command'"),
        ("{s: {command: x, type: http}}", "must be 'stdio' here, not the text 'http'"),
        ("{s: {url: 'http://h', type: stdio}}", "must be 'http' here, not the text 'stdio'"),
        ("{s: {url: 'http://h', type: sse}}", "'sse' is not there"),
        ("{s: {url: 'http://h', type: 1}}", "must be 'http' here, not the number 1"),
        ("{s: {url: 'ftp://h'}}", "must be a URL that begins with 'https://' or 'http://'"),
        ("{s: {url: 'http://'}}", "must be a URL that begins with"),
        ("{s: {url: 'http://h:x'}}", "must be a URL that begins with"),
        ("{s: {url: 'http://u:p@h'}}", "must not hold a password"),
        ("{s: {command: x, args: y}}", "must be a list of texts, not the text 'y'"),
        ("{s: {command: x, args: [[y]]}}", "must be text, not a list"),
        ("{s: {command: x, args: [true]}}", "must be text, not true"),
        ("{s: {command: x, env: [y]}}", "must be a mapping of names to texts, not a list"),
        ("{s: {command: x, env: {a=b: c}}}", "is no name for one of 'env'"),
        ("{s: {command: x, env: {a: 1}}}", "must be text of one line"),
        ("{s: {url: 'http://h', headers: {'a b': c}}}", "is no name for one of 'headers'"),
        ('{s: {url: "http://h", headers: {a: "b\\nX: y"}}}', "must be text of one line"),
        ("{s: {command: x, timeout: 0}}", "must be more than 0"),
        ("{s: {command: x, timeout: soon}}", "must be a number of seconds"),
        ("{s: {command: x, tools: {a: b}}}", "must be a name or a list of names"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(block, message):
    (problem,) = problems_of(f"mcpServers: {block}\n{REST}")
    assert message in problem.message
    assert (problem.line, problem.path.split(".")[0]) == (1, "mcpServers")


def test_a_secret_that_is_wrong_is_not_shown():
    (problem,) = problems_of('mcpServers: {s: {command: x, env: {KEY: "s3cret\\n"}}}\n' + REST)
    assert "s3cret" not in problem.sentence


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("t.x", "unknown tool 't.x'"),
        ("s", "unknown tool 's'"),
        ("s.", "'s.' names no tool"),
    ],
)
def test_a_tool_of_no_server_is_unknown(tool, message):
    text = f"mcpServers: {{s: {{command: x}}}}\nagents: {{a: {{tools: [{tool}]}}}}\n"
    (problem,) = problems_of(text + "tasks: {t: {description: d}}\n")
    assert message in problem.message


def test_the_schema_knows_the_block():
    schema = crew_schema()
    rest = {"agents": {"a": {}}, "tasks": {"t": {"description": "d"}}}
    server = {"command": "x", "args": ["y", 1], "env": {"A": "b"}, "timeoutSeconds": 5, "tools": ["z"]}
    jsonschema.validate({"mcpServers": {"s": server}, **rest}, schema)
    for wrong in ({"s": {**server, "comand": "x"}}, {"a b": server}, {"s": {**server, "timeout": 0}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"mcpServers": wrong, **rest}, schema)
