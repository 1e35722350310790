"""A person who is asked: by an agent, or before an output is accepted."""

import asyncio
import threading

import pytest

from orkeon_transitions.crew import HumanQuestion, MemoryRunLog, load_crew, tool
from orkeon_transitions.crew.human import NO_ANSWER, NOBODY_THERE, Human
from orkeon_transitions.errors import CrewDefinitionError
from tests.crew.dying import died, resumed
from tests.crew.scripted import ScriptedModel, calls, crew_of_one, one_answer_each, path_of

ASKS = calls(("ask_human", {"question": "Which one?"}))
WAITED = ["waiting_for_human_input", "executing"]
END = ["validating", "completed"]


def asking(breaker="", task=""):
    return load_crew(
        f"name: x\ncircuitBreaker: {{{breaker}}}\nagents: {{a: {{tools: [ask_human]}}}}\n"
        f"tasks: {{t: {{description: d, agent: a{task}}}}}\n"
    )


def shown(breaker="", task=""):
    return crew_of_one(breaker=breaker, task=f", humanInput: true{task}")


class Person:
    """Gives answers in order, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, question):
        self.asked.append(question)
        said = self.answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


# ------------------------------------------------------------------------------------- an agent's question
@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_asks_and_the_machine_waits(is_async):
    person = Person("blue")

    async def later(question):
        await asyncio.sleep(0)
        return person(question)

    model = ScriptedModel(ASKS, "It is blue.")
    result = asking().run_sync(model=model, ask_human=later if is_async else person).tasks["t"]
    assert path_of(result) == ["executing", *WAITED, *END]
    assert model.answers == ["blue"]
    assert person.asked == [HumanQuestion("question", "t", "a", "Which one?", 1, 10)]
    assert result.usage.tool_calls == 0


def test_waiting_for_a_person_takes_no_time_of_the_task():
    async def slow(question):
        await asyncio.sleep(0.4)
        return "blue"

    crew = asking(breaker="stateTimeoutSeconds: 0.3, maxTotalDurationSeconds: 0.35")
    assert crew.run_sync(model=ScriptedModel(ASKS, "done"), ask_human=slow).success


def test_without_anybody_the_agent_is_told_and_no_question_is_counted():
    model = ScriptedModel(ASKS, "done without")
    result = asking().run_sync(model=model).tasks["t"]
    assert path_of(result) == ["executing", *END]
    assert model.answers == [NOBODY_THERE]


def test_an_agent_that_asks_nobody_for_ever_is_ended():
    result = asking(breaker="maxRetries: 0").run_sync(model=ScriptedModel(ASKS)).tasks["t"]
    assert str(result.status) == "failed"
    assert "refused tool calls only" in result.error


def test_a_person_who_says_nothing_has_not_answered():
    for silence in (None, ""):
        model = ScriptedModel(ASKS, "done")
        assert asking().run_sync(model=model, ask_human=Person(silence)).success
        assert model.answers == [NO_ANSWER]


def test_the_questions_have_a_budget():
    person = Person("a", "b", "c")
    model = ScriptedModel(ASKS, ASKS, ASKS, "done")
    result = asking(breaker="maxQuestions: 2").run_sync(model=model, ask_human=person)
    assert result.success
    assert len(person.asked) == 2
    assert model.answers[:2] == ["a", "b"]
    assert model.answers[2].startswith("refused: ")
    assert [question.number for question in person.asked] == [1, 2]


@pytest.mark.parametrize("given", [{}, {"question": ""}, {"question": 7, "more": 1}, "nonsense"])
def test_a_question_that_is_none_is_an_error_that_the_agent_is_told(given):
    person = Person()
    model = ScriptedModel(calls(("ask_human", given)), "done")
    assert asking().run_sync(model=model, ask_human=person).success
    assert model.answers[0].startswith("error: wrong arguments for ask_human")
    assert person.asked == []


def test_several_calls_in_one_answer_go_one_after_another():
    @tool
    def look() -> str:
        """Looks."""
        return "seen"

    crew = load_crew(
        "name: x\nagents: {a: {tools: [ask_human, look]}}\ntasks: {t: {description: d}}\n", tools=[look]
    )
    model = ScriptedModel(calls("look", ("ask_human", {"question": "?"}), "look", "gone"), "done")
    result = crew.run_sync(model=model, ask_human=Person("yes")).tasks["t"]
    assert path_of(result) == [
        "executing", "tool_calling", "executing", *WAITED, "tool_calling", "executing", *END
    ]  # fmt: skip
    assert model.answers[:3] == ["seen", "yes", "seen"]
    assert one_answer_each(model.asked[-1])


def test_a_person_who_cannot_be_asked_fails_the_attempt():
    model = ScriptedModel(ASKS, ASKS, "done")
    person = Person(RuntimeError("line is dead"), "blue")
    result = asking().run_sync(model=model, ask_human=person).tasks["t"]
    assert path_of(result) == ["executing", "waiting_for_human_input", "failed", "executing", *WAITED, *END]
    assert result.attempts == 2
    assert one_answer_each(model.asked[-1])
    assert "nobody could be asked: RuntimeError: line is dead" in model.answers[0]


@pytest.mark.parametrize("answer", [7, b"x", ["x"]])
def test_an_answer_that_is_no_text_fails_the_attempt(answer):
    crew = asking(breaker="maxRetries: 0")
    result = crew.run_sync(model=ScriptedModel(ASKS), ask_human=Person(answer)).tasks["t"]
    assert "a person's answer is text or None" in result.error


def test_a_tool_of_the_program_by_that_name_is_a_tool_like_others():
    @tool
    def ask_human(question: str) -> str:
        """Asks somebody else."""
        return "from afar"

    crew = load_crew(
        "name: x\nagents: {a: {tools: [ask_human]}}\ntasks: {t: {description: d}}\n", tools=[ask_human]
    )
    model = ScriptedModel(ASKS, "done")
    assert "tool_calling" in path_of(crew.run_sync(model=model).tasks["t"])
    assert model.answers == ["from afar"]


# ------------------------------------------------------------------------- an output before it is accepted
def test_an_output_is_shown_and_accepted():
    person = Person("")
    result = shown().run_sync(model=ScriptedModel("one"), ask_human=person).tasks["t"]
    assert path_of(result) == ["executing", *WAITED, *END]
    assert person.asked == [HumanQuestion("review", "t", "a", "one", 1, 10)]
    assert result.attempts == 1


def test_what_should_be_better_is_told_to_the_agent():
    model, person = ScriptedModel("one", "two"), Person("Shorter, please", " ")
    result = shown().run_sync(model=model, ask_human=person).tasks["t"]
    assert path_of(result) == ["executing", *WAITED, *WAITED, *END]
    assert (result.output, result.attempts) == ("two", 1)
    assert "Shorter, please" in model.asked[1][-1].content
    assert [question.text for question in person.asked] == ["one", "two"]


def test_a_person_sees_no_output_that_the_rules_refuse():
    model, person = ScriptedModel("bad", "good enough"), Person("")
    crew = shown(task=", guardrails: {minWords: 2}")
    result = crew.run_sync(model=model, ask_human=person).tasks["t"]
    assert path_of(result) == ["executing", "validating", "executing", *WAITED, *END]
    assert [question.text for question in person.asked] == ["good enough"]


def test_an_output_is_held_against_functions_once():
    held = []
    crew = shown(task=", guardrails: f")
    assert crew.run_sync(
        model=ScriptedModel("one"), ask_human=Person(""), guardrails={"f": held.append}
    ).success
    assert held == ["one"]


def test_a_check_that_breaks_before_the_person_sees_it_fails_the_attempt():
    crew = shown(breaker="maxRetries: 0", task=", guardrails: f")
    result = crew.run_sync(
        model=ScriptedModel("one"), ask_human=Person(""), guardrails={"f": lambda output: 1 / 0}
    )
    assert path_of(result.tasks["t"]) == ["executing", "failed"]
    assert "could not be checked: ZeroDivisionError" in result.error


def test_nobody_who_accepts_it_ends_the_task_and_keeps_the_output():
    model = ScriptedModel("one")
    result = shown().run_sync(model=model, ask_human=Person(None)).tasks["t"]
    assert path_of(result) == ["executing", "waiting_for_human_input", "failed"]
    assert (str(result.status), result.output, result.error) == (
        "failed",
        "one",
        "nobody has accepted the output",
    )
    assert len(model.asked) == 1


def test_a_person_who_is_never_content_is_asked_no_more_than_the_budget_allows():
    person = Person(*["again"] * 9)
    model = ScriptedModel("one")
    result = shown(breaker="maxQuestions: 3").run_sync(model=model, ask_human=person).tasks["t"]
    assert (len(person.asked), len(model.asked)) == (3, 4)
    assert (str(result.status), result.output) == ("failed", "one")
    assert result.error == (
        "a person has not accepted the output, and may not be asked again about this task "
        "(maxQuestions: 3): the last output is kept"
    )


def test_a_dead_line_is_tried_again_within_the_retries():
    person = Person(*[OSError("dead")] * 9)
    result = shown(breaker="maxRetries: 1").run_sync(model=ScriptedModel("one"), ask_human=person).tasks["t"]
    assert len(person.asked) == 2
    assert "the person could not be asked: OSError: dead" in result.error


@pytest.mark.parametrize("where", ["crew", "task"])
def test_a_crew_that_needs_a_person_is_refused_without_one(where):
    crew = shown() if where == "task" else crew_of_one(head="human_input: true\n")
    with pytest.raises(CrewDefinitionError) as raised:
        crew.run_sync(model=ScriptedModel("never asked"))
    (problem,) = raised.value.problems
    assert "there is nobody to ask" in problem.message
    assert (problem.path, problem.line) == (
        ("tasks.t.human_input", 6) if where == "task" else ("human_input", 2)
    )


def test_a_function_as_executor_is_shown_too():
    tried = []

    def work(agent, task, context):
        tried.append(context.feedback)
        return f"try {len(tried)}"

    person = Person("better", "")
    result = shown().run_sync(executor=work, ask_human=person)
    assert result.output == "try 2"
    assert "better" in tried[1]


def test_the_task_may_do_without_what_the_crew_wants():
    crew = crew_of_one(head="humanInput: true\n", task=", humanInput: false")
    assert crew.run_sync(model=ScriptedModel("one")).success


# ------------------------------------------------------------------------------------ cancel, kill, resume
@pytest.mark.parametrize("is_async", [False, True])
def test_a_run_is_cancelled_while_a_person_thinks(is_async):
    asked, forever = threading.Event(), threading.Event()

    def blocks(question):
        asked.set()
        forever.wait(20)
        return "too late"

    async def waits(question):
        asked.set()
        await asyncio.sleep(20)

    results = []

    async def main():
        from orkeon_transitions.crew import CrewObserver

        run = asyncio.create_task(
            shown().run(
                model=ScriptedModel("one"),
                ask_human=waits if is_async else blocks,
                observer=CrewObserver(crew_finished=results.append),
            )
        )
        while not asked.is_set():
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    forever.set()
    task = results[0].tasks["t"]
    assert path_of(task) == ["executing", "waiting_for_human_input", "cancelled"]
    assert task.output == "one"


def test_a_run_that_waited_for_a_review_asks_again_and_does_no_work_twice():
    crew, log = shown(), MemoryRunLog()
    assert died(crew, log, 2, model=ScriptedModel("one"), ask_human=Person(""))
    model, person = ScriptedModel("never"), Person("")
    result = resumed(crew, log, model=model, ask_human=person)
    assert (result.output, model.asked) == ("one", [])
    assert person.asked == [HumanQuestion("review", "t", "a", "one", 1, 10)]
    assert path_of(result.tasks["t"]) == ["executing", *WAITED, *END]


def test_an_output_that_was_accepted_stays_accepted():
    crew, log = shown(), MemoryRunLog()
    assert died(crew, log, 3, model=ScriptedModel("one"), ask_human=Person(""))
    model, person = ScriptedModel("never"), Person()
    result = resumed(crew, log, model=model, ask_human=person)
    assert (result.output, model.asked, person.asked) == ("one", [], [])


def test_a_run_that_waited_for_an_answer_asks_again_and_tells_the_agent():
    crew, log = asking(), MemoryRunLog()
    assert died(crew, log, 2, model=ScriptedModel(ASKS, "done"), ask_human=Person("blue"))
    model, person = ScriptedModel("It is red."), Person("red")
    result = resumed(crew, log, model=model, ask_human=person)
    assert result.output == "It is red."
    assert [question.text for question in person.asked] == ["Which one?"]
    told = [message.content for message in model.asked[0] if "A person was asked before" in message.content]
    assert told == ["A person was asked before:\nQuestion: Which one?\nAnswer: red"]


def test_an_answer_survives_the_end_of_the_process():
    crew, log = asking(), MemoryRunLog()
    assert died(crew, log, 3, model=ScriptedModel(ASKS, "done"), ask_human=Person("blue"))
    model = ScriptedModel("done")
    assert resumed(crew, log, model=model, ask_human=Person()).success
    assert any("Answer: blue" in message.content for message in model.asked[0])


def test_a_run_that_waited_and_goes_on_without_anybody_fails_and_keeps_the_output():
    crew, log = asking(), MemoryRunLog()
    assert died(crew, log, 2, model=ScriptedModel(ASKS, "done"), ask_human=Person("blue"))
    result = resumed(crew, log, model=ScriptedModel("never"))
    assert path_of(result.tasks["t"]) == ["executing", "waiting_for_human_input", "failed"]
    assert "there is nobody who can be asked" in result.error


# ----------------------------------------------------------------------------------------- the port itself
def test_plain_functions_are_asked_one_question_at_a_time():
    busy, most = [], []

    def ask(question):
        busy.append(question)
        most.append(len(busy))
        threading.Event().wait(0.05)
        busy.remove(question)
        return "ok"

    crew = load_crew(
        "name: x\nprocess: parallel\nhumanInput: true\nagents: {a: {}}\n"
        "tasks: {one: {description: d}, two: {description: d}, three: {description: d}}\n"
    )
    assert crew.run_sync(executor=lambda *_: "x", ask_human=lambda question: ask(question) and "").success
    assert max(most) == 1


@pytest.mark.parametrize("wrong", ["input", lambda: None, lambda a, b: None])
def test_what_cannot_be_asked_is_refused(wrong):
    with pytest.raises(TypeError, match="ask_human"):
        Human(wrong)
    with pytest.raises(TypeError, match="ask_human"):
        shown().run_sync(model=ScriptedModel("x"), ask_human=wrong)


def test_the_builtin_input_will_do():
    assert Human(input)
