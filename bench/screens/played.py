"""Have a model answer the questions of a written screen, in one call a screen."""

import json
from collections.abc import Sequence

from agent.models.model import Message, MessageKind, ModelRequest, Role
from agent.models.openai import OpenAIModel
from agent.text import clean
from bench.screens.formats import Written
from bench.screens.questions import Question

_ASKED = (
    "You are shown a phone's screen as text. Answer from this text alone, with a JSON array of "
    "strings, one a question, in order. Where the text does not say it, give an empty string."
)


async def play(
    model: OpenAIModel, written: Written, questions: Sequence[Question]
) -> tuple[str, ...]:
    """Return a model's answers, empty ones where it gave none. Raises ModelError."""
    asked = "\n".join(f"{n}. {question.words}" for n, question in enumerate(questions, 1))
    request = ModelRequest(
        messages=(
            Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text=_ASKED),
            Message(
                role=Role.USER, kind=MessageKind.OBSERVATION, text=f"{written.text}\n\n{asked}"
            ),
        ),
        tools=(),
    )
    reply = await model.complete(request)
    return read_answers(reply.text, len(questions))


def read_answers(text: str, count: int) -> tuple[str, ...]:
    """Return the first JSON array of a reply as so many answers."""
    start, end = text.find("["), text.rfind("]")
    try:
        found = json.loads(text[start : end + 1])
    except ValueError:
        found = []
    answers = [clean(str(answer), 2000) for answer in found] if isinstance(found, list) else []
    return tuple((answers + [""] * count)[:count])
