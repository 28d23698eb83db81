"""Write a session's past down in lines: what was said, done, asked and answered; pure.

Not the memory of a running turn (`agent.loop.conversation.memory`) and not what a person reads.
Invariants: one line for one fact, cleaned and bounded; every action has its line, with what it came
to.
"""

from collections.abc import Iterable

from agent import protocol
from agent.loop.conversation.prompts import operator_text
from agent.text import one_line

_LINE_CHARS = 400


def story(history: Iterable[protocol.Event]) -> tuple[str, ...]:
    """Return every line of a session's past, oldest first."""
    return tuple(line for event in history for line in [line_of(event.msg)] if line)


def call_line(call: protocol.ToolCallRequested) -> str:
    """Write an action down: its step, its tool, its arguments and its element."""
    on = f' on "{one_line(call.element.label, 80)}"' if call.element is not None else ""
    return f"step {call.step}: {call.tool} {one_line(call.arguments, 200)}{on}"


def line_of(msg: protocol.EventMsg) -> str:
    """Write one fact down in a line; empty for what tells nothing."""
    match msg:
        case protocol.UserMessage(text=text):
            line = f"operator: {operator_text(text)}"
        case protocol.ObservationRecorded(step=step, observation=seen):
            line = f"step {step}: saw {seen.foreground.package} {seen.foreground.activity}"
            line += f"; {seen.change}" if seen.change else ""
        case protocol.AgentMessage(step=step, text=text):
            line = f"step {step}: said: {text}"
        case protocol.ToolCallRequested() as call:
            line = call_line(call)
        case protocol.ToolCallFinished(step=step, outcome=outcome, text=text):
            line = f"step {step}: {outcome.value}: {text}"
        case protocol.RequestUserInput(question=question):
            line = f"asked: {question.text}"
        case protocol.QuestionAnswered(answer=answer):
            line = f"answered: {answer or '(not kept)'}"
        case protocol.ResultPublished(text=text):
            line = f"result: {text}"
        case protocol.ErrorEvent(message=text):
            line = f"error: {text}"
        case protocol.StreamError(message=text):
            line = f"model error: {text}"
        case protocol.TurnAborted(reason=reason):
            line = f"turn ended early: {reason.value}"
        case protocol.SessionStateChanged(state=state, reason=reason):
            line = f"became {state.value}: {reason}"
        case _:
            return ""
    return one_line(line, _LINE_CHARS)
