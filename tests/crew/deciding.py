"""Executors that do tasks and answer the questions of a process, and what they were asked."""

import json
import re

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.quotations import labelled_in

LED = """\
name: led
process: hierarchical
managerAgent: boss
{head}agents:
  boss: {{role: Boss}}
  cook: {{role: Cook, goal: Tea}}
  waiter: {{role: Waiter, tools: [json_tool]}}
tasks:
{tasks}"""
AGREEING = """\
name: agreeing
process: consensual
{head}agents: {{{agents}}}
tasks:
{tasks}"""
ONE = "  t: {description: Make tea, expectedOutput: Tea}\n"
TWO = "  one: {description: d}\n  two: {description: d, dependencies: [one]}\n"


def led(tasks=ONE, head=""):
    """A crew with a manager and two others."""
    return load_crew(LED.format(tasks=tasks, head=head))


def agreeing(agents="abc", tasks=ONE, head="", **consensus):
    """A crew whose agents, one for each letter, agree as a `consensus` block says."""
    block = f"consensus: {json.dumps(consensus)}\n" if consensus else ""
    keys = ", ".join(f"{agent}: {{}}" for agent in agents)
    return load_crew(AGREEING.format(agents=keys, tasks=tasks, head=head + block))


class Deciding:
    """Does tasks, and answers each kind of question as it is told; keeps what it was asked.

    Args:
        work: Gives an answer to a task: a text, or a function of agent, task and context.
        answers: By kind of question, the same.
    """

    def __init__(self, work="done", **answers):
        self._answers = {"": work} | answers
        self.asked = []

    async def execute_task(self, agent, task, context):
        self.asked.append((context.question, agent.id, task))
        answer = self._answers[context.question]
        given = answer(agent, task, context) if callable(answer) else answer
        return given if not isinstance(given, dict | list) else json.dumps(given)

    def count(self, kind):
        return sum(asked == kind for asked, *_ in self.asked)

    def questions(self, kind):
        return [task for asked, _, task in self.asked if asked == kind]


def assigned_to(agent, why="it can"):
    return {"agent": agent, "why": why}


def judged(*verdicts):
    """Accepts or sends back, one after another; the last verdict is given again and again."""
    left = list(verdicts)

    def judge(agent, task, context):
        accepted = left.pop(0) if len(left) > 1 else left[0]
        return {"accepted": accepted, "feedback": "fine" if accepted else "more sugar"}

    return judge


def ranked(prefer):
    """Ballots that rank answers by a function of their texts, the smallest first."""

    def vote(agent, task, context):
        shown = labelled_in(task.description)
        return {"ranking": sorted(shown, key=lambda label: prefer(shown[label])), "why": "I like it"}

    return vote


def labels_for(task):
    """The answers that a question shows, by label."""
    return labelled_in(task.description)


def decisions(result, *kinds):
    """What was decided, in short."""
    return [
        (one.kind, one.by, one.choice, one.round)
        for one in result.decisions
        if not kinds or one.kind in kinds
    ]


def machines_of(result):
    return [re.sub(r"^[^/]*/", "", machine.machine_id) for machine in result.machines]


SEEN = {"assignment": assigned_to("cook"), "review": judged(True)}


def manager(**changes):
    return Deciding(**SEEN | changes)


def by_agent(agent, task, context):
    return f"tea by {agent.id}"


def towards(*favourites):
    """Ballots that have the first of these answers that they see on top; one `favourites` for each round."""

    def vote(agent, task, context):
        shown = labels_for(task)
        round_number = int(task.id.partition("ballot-")[2].partition("/")[0])
        wanted = favourites[min(round_number, len(favourites)) - 1]
        order = sorted(shown, key=lambda label: (wanted.find(shown[label][-1]), label))
        return {"ranking": order, "why": "I like it"}

    return vote


def answer(agent, task, context):
    """What an executor gives, as text."""
    return (
        json.dumps(towards("bac")(agent, task, context))
        if context.question
        else by_agent(agent, task, context)
    )


def council(work=by_agent, ballot=None, **answers):
    return Deciding(work, ballot=ballot or towards("bac"), **answers)
