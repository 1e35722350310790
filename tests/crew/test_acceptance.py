"""What is wrong with an output is told to the agent, as far as the validation may send it back."""

import asyncio

import pytest
from pydantic import BaseModel

from orkeon_transitions.crew import MemoryRunLog, ModelReply, Usage, load_crew
from orkeon_transitions.crew.checks import MOST_OUTPUT
from orkeon_transitions.errors import CrewDefinitionError, MissingExtraError
from tests.crew.dying import died, resumed
from tests.crew.scripted import ScriptedModel, crew_of_one, hang, path_of

BACK = ["validating", "executing"]


def ruled(rules, breaker="", **options):
    return crew_of_one(breaker=breaker, task=f", {rules}", **options)


def test_what_is_wrong_is_told_to_the_agent():
    model = ScriptedModel("no", "this will do")
    result = ruled("guardrails: [{minWords: 3, forbiddenWords: no}]").run_sync(model=model).tasks["t"]
    assert path_of(result) == ["executing", *BACK, "validating", "completed"]
    assert (result.output, result.attempts, result.error) == ("this will do", 1, None)
    assert model.asked[1][-1].content == (
        "The output was not accepted:\n- it has 1 word, and needs at least 3\n"
        "- it must not have 'no' in it\nAnswer again, with the whole output."
    )


def test_within_its_limit_and_then_the_task_fails_and_keeps_the_output():
    model = ScriptedModel("one", "two", "three", "four")
    crew = ruled("guardrails: {minWords: 3}", "maxValidationRetries: 2, maxRetries: 0")
    result = crew.run_sync(model=model).tasks["t"]
    assert path_of(result) == ["executing", *BACK, *BACK, "validating", "failed"]
    assert (str(result.status), result.output, len(model.asked)) == ("failed", "three", 3)
    assert result.error == "the output was not accepted: it has 1 word, and needs at least 3"


def test_an_output_of_ten_megabytes_is_sent_back():
    model = ScriptedModel("x" * 10 * 1024 * 1024, "short")
    result = crew_of_one().run_sync(model=model).tasks["t"]
    assert path_of(result) == ["executing", *BACK, "validating", "completed"]
    assert "may have at most" in model.asked[1][-1].content
    assert sum(len(message.content) for message in model.asked[1]) < 2 * MOST_OUTPUT


def test_a_file_may_allow_a_function_more():
    long = "x" * 2 * MOST_OUTPUT
    assert not crew_of_one(breaker="maxRetries: 0").run_sync(executor=lambda *_: long).success
    crew = ruled(f"guardrails: {{maxLength: {3 * MOST_OUTPUT}}}")
    assert crew.run_sync(executor=lambda *_: long).output == long


def test_all_levels_count_and_function_executors_are_held_to_them():
    crew = load_crew(
        "name: x\nguardrail: {minWords: 2}\nagents: {a: {guardrail: {mustMatch: b}}}\n"
        "tasks: {t: {description: d, agent: a, guardrails: f}}\n"
    )
    told = []

    def work(agent, task, context):
        told.append(context.feedback)
        return ["a", "a a", "a b", "b b"][len(told) - 1]

    result = crew.run_sync(executor=work, guardrails={"f": lambda output: "a" not in output})
    assert result.output == "b b"
    assert [text and text.splitlines()[1] for text in told] == [
        None,
        "- it has 1 word, and needs at least 2",
        "- it must match /b/",
        "- the check 'f' does not accept it",
    ]


def test_json_is_handed_on_without_its_fence(tmp_path):
    text = (
        f"name: x\nmounts: ['{tmp_path}:/out:rw']\nagents: {{a: {{}}}}\n"
        "tasks: {t: {description: d, output_json: true, deliverable: /out/x.json}}\n"
    )
    result = load_crew(text).run_sync(model=ScriptedModel("```json\n[1]\n```"))
    assert result.output == "[1]"
    assert (tmp_path / "x.json").read_text() == "[1]"


class Report(BaseModel):
    title: str


def test_a_class_of_the_program_and_its_schema_for_the_agent():
    model = ScriptedModel("{}", '{"title": "x"}')
    crew = ruled("output_pydantic: Report")
    assert crew.run_sync(model=model, schemas={"Report": Report}).success
    assert '"title"' in model.asked[0][1].content
    assert "- at $.title: Field required" in model.asked[1][-1].content
    assert crew.run_sync(schemas={"Report": Report}).output == '{"title": "[offline model] Do it"}'


@pytest.mark.parametrize(
    "schema",
    [
        "{type: object, required: [a], properties: {a: {type: integer}}}",
        "{type: array, items: {type: string}}",
        "{type: object}",
        "{type: object, required: [a]}",
    ],
)
def test_the_offline_model_answers_in_the_shape(schema):
    assert ruled(f"responseSchema: {schema}").run_sync().success


def test_what_the_program_must_give_is_said_all_at_once():
    crew = load_crew(
        "name: x\nguardrail: dull\nagents: {a: {guardrails: nice}}\ntasks:\n"
        "  t: {description: d, agent: a, responseModel: Report, guardrails: [Kind and nice]}\n"
    )
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync(executor=lambda *_: "x", guardrails={"nicer": len}, schemas={"Reports": Report})
    found = [(one.line, one.path, one.hint) for one in raised.value.problems]
    assert found == [
        (2, "guardrails", None),
        (3, "agents.a.guardrails", "nicer"),
        (5, "tasks.t.guardrails", None),
        (5, "tasks.t.response_schema", "Reports"),
    ]
    assert "the function 'dull' is for the program to give, by its name in guardrails=" in str(raised.value)
    assert "is judged by a model" in str(raised.value)


def test_what_is_given_must_be_of_its_kind():
    with pytest.raises(TypeError, match="the check 'f' is no function"):
        crew_of_one().run_sync(guardrails={"f": 7})
    with pytest.raises(TypeError, match="nothing can be read as 'S'"):
        crew_of_one().run_sync(schemas={"S": object()})


def test_a_schema_needs_what_checks_it(monkeypatch):
    from orkeon_transitions.crew import given

    crew = ruled("responseSchema: {type: object}")
    monkeypatch.setattr(given, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"orkeon-transitions\[schema\]"):
        crew.run_sync()
    assert crew_of_one().run_sync().success


@pytest.mark.parametrize("mistake", [ZeroDivisionError, "hang"])
def test_a_check_that_breaks_or_hangs_has_its_place_in_the_machine(mistake):
    async def check(output):
        if mistake == "hang":
            await hang()
        raise mistake

    crew = ruled("guardrails: f", "maxRetries: 1, stateTimeoutSeconds: 0.3")
    result = crew.run_sync(model=ScriptedModel("x"), guardrails={"f": check}).tasks["t"]
    if mistake == "hang":
        assert path_of(result) == ["executing", "validating", "degraded"]
    else:
        assert path_of(result) == ["executing", "validating", "failed", "executing", "validating", "failed"]
        assert "the output could not be checked: ZeroDivisionError" in result.error
    assert result.output == "x"


def test_a_run_is_cancelled_while_an_output_is_checked():
    async def main():
        begun = asyncio.Event()

        async def check(output):
            begun.set()
            await hang()

        run = asyncio.create_task(
            ruled("guardrails: f").run(model=ScriptedModel("x"), guardrails={"f": check})
        )
        await begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())


# --------------------------------------------------------------------------------------------------- a judge
def judged(*verdicts, breaker="maxRetries: 0"):
    model = ScriptedModel("one", *[each for verdict in verdicts for each in (verdict, "again")])
    crew = ruled("guardrail: 'It must be kind.', expectedOutput: A letter", breaker)
    return model, crew.run_sync(model=model).tasks["t"]


def test_a_sentence_is_judged_by_the_agent_s_model_in_a_conversation_of_its_own():
    model, result = judged("REJECTED: it is rude", "ACCEPTED")
    assert path_of(result) == ["executing", *BACK, "validating", "completed"]
    assert (result.output, result.usage.requests) == ("again", 4)
    system, question = model.asked[1]
    assert (system.role, question.role) == ("system", "user")
    for told in ("It must be kind.", "A letter", "Do it", "one"):
        assert told in question.content
    assert "- it is rude" in model.asked[2][-1].content


def test_a_judge_of_the_offline_model_accepts():
    assert ruled("guardrail: It must be kind").run_sync().success


def test_a_judge_that_cannot_be_asked_is_a_check_that_broke():
    _, result = judged(RuntimeError("away"))
    assert path_of(result) == ["executing", "validating", "failed"]
    assert result.error == "the output could not be checked: RuntimeError: away"
    assert result.output == "one"


def test_what_a_judge_takes_is_metered():
    _, result = judged(ModelReply("REJECTED", usage=Usage(1, 99, 99)), breaker="meters: {tokens: 100}")
    assert (str(result.status), result.output) == ("degraded", "one")


def test_an_executor_of_the_program_may_judge():
    class Judge:
        async def execute_task(self, agent, task, context):
            return "again" if context.feedback else "one"

        async def judge_output(self, agent, task, context, criteria, output):
            return f"not {criteria}" if output == "one" else None

    result = ruled("guardrail: kind words").run_sync(executor=Judge())
    assert result.output == "again"


# --------------------------------------------------------------------------------------------------- a kill
@pytest.mark.parametrize("writes", range(1, 5))
def test_validation_goes_on_in_another_process(writes):
    crew, log = ruled("guardrails: {minWords: 2}"), MemoryRunLog()
    assert died(crew, log, writes, executor=lambda a, t, c: "now fine" if c.feedback else "bad")
    told = []

    def work(agent, task, context):
        told.append(context.feedback)
        return "now fine" if context.feedback else "bad"

    result = resumed(crew, log, executor=work)
    assert result.output == "now fine"
    assert path_of(result.tasks["t"]) == ["executing", *BACK, "validating", "completed"]
    assert len(told) == {1: 2, 2: 1, 3: 1, 4: 0}[writes]
