"""Have a model read an operator's words as the clauses of a warrant.

One call, no phone, no memory. Invariants: what a model proposes allows nothing: structure holds it
against the words (`agent.safety.warrants.words`), and a person signs it; an answer that is not of
the schema is an error that says what to do instead.
"""

from datetime import datetime
from decimal import Decimal, InvalidOperation

import msgspec

from agent.errors import ModelError, UsageError
from agent.models.choice import PILOT
from agent.models.model import (
    Message,
    MessageKind,
    Model,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
    ToolSchema,
)
from agent.records import Clause, EffectVerb, Usage
from agent.safety.warrants.reach import VERBS
from agent.text import one_line
from agent.timestamps import day_and_time

BY_HAND = "Give the clauses yourself: switchboard warrants draft WORDS --clause ..."
_TOOL = "propose_clauses"
_INSTRUCTIONS = f"""\
You read what an operator allows an agent on a phone, and write it as clauses. Call {_TOOL} once.

Copy every name, number and currency exactly as it stands in the words; add nothing that is not \
there, and leave out nothing that limits. What the words do not say stays empty. A clause is about \
one kind of act:
- spend: total is what all payments together may come to; each, what one may. "up to 40 EUR" is a \
total. app is the app in which it is paid, recipients who is paid. items: the only things that may \
be bought, if the words list them.
- send: messages, to the recipients named. count: how many, if the words give a number.
- call: as send.
until: the last day or moment, as 2026-11-30 or 2026-11-30T18:30, if the words name one for this \
clause alone; else empty.
If the words allow anything else, such as deleting or installing, leave that part out.
"""
_TEXT = {"type": "string"}
_NAMES = {"type": "array", "items": _TEXT}
_SCHEMA = ToolSchema(
    name=_TOOL,
    description="Write what the words allow as clauses.",
    parameters={
        "type": "object",
        "properties": {
            "clauses": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "verb": {"type": "string", "enum": [verb.value for verb in VERBS]},
                        "app": _TEXT,
                        "recipients": _NAMES,
                        "items": _NAMES,
                        "total": {"type": "string", "description": "A number, as 40 or 12.50."},
                        "each": {"type": "string", "description": "A number."},
                        "currency": {"type": "string", "description": "An ISO 4217 code."},
                        "count": {"type": "integer"},
                        "until": _TEXT,
                    },
                    "required": ["verb"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["clauses"],
        "additionalProperties": False,
    },
)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What a model made of words."""

    clauses: tuple[Clause, ...]
    usage: Usage = Usage()


class _ProposedClause(msgspec.Struct, frozen=True):
    verb: EffectVerb
    app: str = ""
    recipients: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    total: str | int | float = ""
    each: str | int | float = ""
    currency: str = ""
    count: int = 0
    until: str = ""


class _Answer(msgspec.Struct, frozen=True):
    clauses: tuple[_ProposedClause, ...]


async def proposed(model: Model, words: str, now_ms: int) -> Proposal:
    """Ask a model for the clauses of words.

    Raises:
        UsageError: it is the offline pilot, which reads no words.
        ModelError: it did not answer, or gave no clauses.
    """
    if model.name == PILOT:
        raise UsageError("The offline pilot does not read warrants.", BY_HAND)
    asked = f"## Now\n{day_and_time(now_ms)}\n## The operator's words\n{words}"
    reply = await model.complete(
        ModelRequest(
            messages=(
                Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text=_INSTRUCTIONS),
                Message(role=Role.USER, kind=MessageKind.GOAL, text=asked),
            ),
            tools=(_SCHEMA,),
            tool_choice=ToolChoice.REQUIRED,
        )
    )
    return Proposal(clauses=_read(model.name, reply), usage=reply.usage)


def _read(name: str, reply: ModelReply) -> tuple[Clause, ...]:
    call = next((call for call in reply.tool_calls if call.name == _TOOL), None)
    try:
        said = msgspec.json.decode(call.arguments if call else reply.text, type=_Answer)
        return tuple(map(_clause, said.clauses))
    except (msgspec.MsgspecError, ValueError, InvalidOperation) as error:
        raise ModelError(
            f"The model {one_line(name, 80)} gave no usable clauses.", BY_HAND, retryable=True
        ) from error


def _clause(said: _ProposedClause) -> Clause:
    return Clause(
        verb=said.verb,
        app=said.app.strip(),
        recipients=tuple(one.strip() for one in said.recipients if one.strip()),
        items=tuple(one.strip() for one in said.items if one.strip()),
        limit=_hundredths(said.total),
        each=_hundredths(said.each),
        currency=said.currency.strip(),
        count=said.count,
        until_ms=_moment_ms(said.until.strip()),
    )


def _hundredths(said: str | int | float) -> int:
    """Return a number in hundredths; 0 for none. Raises ValueError, InvalidOperation."""
    if said == "":
        return 0
    value = Decimal(str(said).strip()) * 100
    if not value.is_finite() or value != int(value):
        raise ValueError("not an amount")
    return int(value)


def _moment_ms(said: str) -> int:
    """Return a moment, of a day its end; 0 for none. Raises ValueError."""
    if not said:
        return 0
    moment = datetime.fromisoformat(said)
    if len(said) <= len("2026-11-30"):
        moment = moment.replace(hour=23, minute=59, second=59)
        return round(moment.astimezone().timestamp() + 1) * 1000
    return round(moment.astimezone().timestamp()) * 1000
