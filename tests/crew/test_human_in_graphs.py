"""What a person has said holds for every machine of a task, also for those that the graph makes later."""

import pytest

from orkeon_transitions.crew import MemoryRunLog, load_crew
from tests.crew.dying import died, resumed
from tests.crew.scripted import ScriptedModel, calls
from tests.crew.test_human import Person

ASKS = calls(("ask_human", {"question": "Which one?"}))
SAID = "A person was asked before:\nQuestion: Which one?\nAnswer: the blue one"


def crew(task=""):
    return load_crew(
        "name: x\nprocess: graph\ngraphConfig: {maxRetryCycles: 2}\nagents: {a: {tools: [ask_human]}}\n"
        f"tasks: {{t: {{description: d, agent: a{task}}}}}\n"
    )


def test_an_answer_survives_the_retry_of_the_graph():
    person = Person("the blue one")
    model = ScriptedModel(ASKS, ConnectionError("lost"), ConnectionError("lost again"), "It is blue.")
    result = crew().run_sync(model=model, ask_human=person)
    assert result.success
    assert len(result.tasks["t"].machines) == 3
    assert len(person.asked) == 1
    for conversation in model.asked[2:]:
        assert [message.content for message in conversation].count(SAID) == 1


def test_what_was_to_be_better_survives_it_too():
    person = Person("shorter, please", "")
    model = ScriptedModel("long", ConnectionError("lost"), "short")
    result = crew(", humanInput: true").run_sync(model=model, ask_human=person)
    assert result.output == "short"
    assert any("shorter, please" in message.content for message in model.asked[-1])


def test_nobody_who_answers_is_remembered_as_one():
    person = Person(None)
    model = ScriptedModel(ASKS, ConnectionError("lost"), "done")
    assert crew().run_sync(model=model, ask_human=person).success
    assert any("nobody has answered" in message.content for message in model.asked[-1])


@pytest.mark.parametrize("writes", [4, 5, 6, 7, 8, 9])
def test_it_survives_the_end_of_the_process_besides(writes):
    log = MemoryRunLog()
    replies = (ASKS, ConnectionError("lost"), ConnectionError("lost again"), "never")
    assert died(crew(), log, writes, model=ScriptedModel(*replies), ask_human=Person("the blue one"))
    after = ScriptedModel("It is blue.")
    result = resumed(crew(), log, model=after, ask_human=Person())
    assert result.success
    assert any(SAID in message.content for message in after.asked[-1])
