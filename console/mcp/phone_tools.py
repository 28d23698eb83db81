"""The phone tools: a client takes a phone, acts on it call by call, and releases it.

Each phone that is taken is a direct session of the core, so policy, approvals, redaction, record,
stop and wheel are those of every session. Invariant: what a client may call is what a model may
call, by the same schemas.
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from agent.core import Core
from agent.direct.calls import FINISH, call, release_arguments
from agent.errors import UsageError
from agent.protocol import DirectCall, UserInputAnswer
from agent.records import DirectStatus, DirectView, Question, Speaker
from agent.text import counted
from agent.tools.arguments import Arguments, ToolKind
from agent.tools.registry import TOOLS, schemas
from console.mcp.taking_back import TAKE_BACK_S, afterwards, begin_direct_session, end, take_back
from console.mcp.tool import Answer, Asker, Connection, Hints, McpTool

NOT_OFFERED = frozenset({"finish", "more_tools", "update_plan", "remember"})
"""Tools that serve a model's own memory, which a client has; release_phone is its finish."""
PATIENCE_S = 50.0
"""How long one call may wait; common clients give up after a minute."""
_SESSION = {
    "type": "string",
    "description": "Only with several phones: the session that take_phone named.",
}
_WAIT_ON = "Call look to wait on."


class TakePhone(Arguments, frozen=True, kw_only=True):
    purpose: Annotated[str, msgspec.Meta(description="What you will do, for the operator.")]
    phone: Annotated[
        str, msgspec.Meta(description="Serial, see list_phones; may be left out for the only one.")
    ] = ""
    picture: Annotated[bool, msgspec.Meta(description="Also a picture of the screen.")] = False


class Look(Arguments, frozen=True, kw_only=True):
    session: Annotated[str, msgspec.Meta(description=_SESSION["description"])] = ""
    picture: Annotated[bool, msgspec.Meta(description="Also a picture, with numbers drawn.")] = (
        False
    )


class ReleasePhone(Arguments, frozen=True, kw_only=True):
    success: Annotated[bool, msgspec.Meta(description="Whether the purpose was met.")]
    summary: Annotated[str, msgspec.Meta(description="What was done, for the operator.")]
    session: Annotated[str, msgspec.Meta(description=_SESSION["description"])] = ""


async def _take(connection: Connection, asker: Asker, given: TakePhone) -> Answer:
    session_id = await begin_direct_session(connection, given.purpose, given.phone)
    connection.phones[session_id] = given.phone
    try:
        answer = await _call(connection, asker, session_id, picture=given.picture)
    except asyncio.CancelledError:
        # The client was told of no session, so it could never let go of it.
        afterwards(connection, _leave(connection, session_id))
        raise
    return msgspec.structs.replace(answer, text=f"Session {session_id}\n\n{answer.text}")


async def look(connection: Connection, asker: Asker, given: Look) -> Answer:
    """Return what is shown now, once the last call is over."""
    session_id = _held(connection, given.session)
    return await _call(connection, asker, session_id, picture=given.picture)


async def _release(connection: Connection, asker: Asker, given: ReleasePhone) -> Answer:
    session_id = _held(connection, given.session)
    back = DirectCall(session_id=session_id, withdraw=True, wait_s=TAKE_BACK_S)
    view = (await connection.core.request(back)).direct
    if view is not None and view.status is DirectStatus.WAITING:
        # In line for its phone, paused, or without it: there is nothing to claim.
        await _leave(connection, session_id)
        return Answer(text=f"Session {session_id} waits no more and is cancelled. {view.text}")
    tool, arguments = release_arguments(given.success, given.summary)
    return await _call(connection, asker, session_id, tool, arguments)


_ACTS = Hints(destroys=True, is_open=True)
_MOVES = Hints(is_open=True)

TAKE = McpTool(
    "take_phone",
    "Take a phone",
    "Take a phone and see its screen. Do this first; the operator sees and can stop all you do.",
    TakePhone,
    _take,
    _MOVES,
)
LOOK = McpTool(
    "look",
    "Look at the screen",
    "See the screen as it was after the last call.",
    Look,
    look,
    Hints(reads_only=True, is_idempotent=True, is_open=True),
)
RELEASE = McpTool(
    "release_phone",
    "Release the phone",
    "End your work on a phone. success=true only when the screen shows that it is done.",
    ReleasePhone,
    _release,
    Hints(),
)


def title_of(tool: str) -> str:
    """Return the name of a tool that acts on a phone, as people read it."""
    return tool.replace("_", " ").capitalize()


def hints_of(tool: str) -> Hints:
    """Return what a client may assume of a tool that acts on a phone."""
    if TOOLS[tool].tool_kind is ToolKind.OBSERVE:
        return Hints(reads_only=True, is_idempotent=True, is_open=True)
    # What waits or asks touches nothing; what moves the view changes nothing that lasts.
    is_harmless = TOOLS[tool].tool_kind is ToolKind.CONTROL or TOOLS[tool].moves_view
    return _MOVES if is_harmless else _ACTS


def acting_schemas(*, sees: bool) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the description and JSON Schema of each tool that acts on a phone, by name.

    Args:
        sees: whether pictures are drawn, so that points of them can be touched.
    """
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for tool in schemas(frozenset(), sees=sees):
        if tool.name in NOT_OFFERED:
            continue
        properties = {**tool.parameters.get("properties", {}), "session": _SESSION}
        found[tool.name] = (tool.description, {**tool.parameters, "properties": properties})
    return found


async def act(connection: Connection, asker: Asker, tool: str, given: Mapping[str, Any]) -> Answer:
    """Carry out a call of a tool that acts on a phone.

    Raises:
        UsageError: no phone was taken, or it is not said on which of several.
        SwitchboardError: the core refuses the call.
    """
    arguments = dict(given)
    session_id = _held(connection, str(arguments.pop("session", "") or ""))
    return await _call(connection, asker, session_id, tool, arguments)


def _held(connection: Connection, session_id: str) -> str:
    held = tuple(connection.phones)
    if session_id:
        if session_id in held:
            return session_id
        raise UsageError(f"You have taken no phone as session {session_id}.", "Call take_phone.")
    if not held:
        raise UsageError("You have taken no phone.", "Call take_phone first.")
    if len(held) > 1:
        raise UsageError(
            f"You have taken {counted(len(held), 'phone')}.",
            f"Name the session: {', '.join(held)}.",
        )
    return held[0]


async def _call(
    connection: Connection,
    asker: Asker,
    session_id: str,
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    *,
    picture: bool = False,
) -> Answer:
    """Call, and wait: the operator may be asked meanwhile, by this client too."""

    async def on_wait(waited_s: float, why: str) -> None:
        await asker.progress(waited_s, why)
        await ask_here(connection, asker, session_id)

    try:
        view = await call(
            connection.core,
            session_id,
            tool,
            arguments,
            patience_s=PATIENCE_S,
            on_wait=on_wait,
            picture=picture,
        )
    except asyncio.CancelledError:
        if tool:
            afterwards(connection, take_back(connection.core, session_id))
        raise
    answer = await _shown(connection, session_id, view)
    delivers = bool(tool) or session_id in connection.unread
    if view.status is DirectStatus.WAITING:
        connection.unread |= {session_id} if delivers else set()
        return answer
    connection.unread.discard(session_id)
    is_over = view.status is DirectStatus.OVER and tool not in {"", FINISH}
    return msgspec.structs.replace(answer, failed=is_over or (delivers and view.failed))


async def _leave(connection: Connection, session_id: str) -> None:
    """End a session that its client does not want any more."""
    connection.phones.pop(session_id, None)
    connection.unread.discard(session_id)
    await end(connection.core, session_id)


async def ask_here(connection: Connection, asker: Asker, session_id: str) -> None:
    """Put a session's open questions to the person at the client, once; the first answer wins."""
    for question in (await connection.core.overview()).questions:
        if question.session_id != session_id or question.question_id in connection.asked:
            continue
        connection.asked.add(question.question_id)
        answer = await _answer_here(connection.core, asker, question)
        if answer is not None:
            await answer_once(connection, question, answer, asker.speaker)


async def _answer_here(core: Core, asker: Asker, question: Question) -> str | None:
    """Return what the person at the client says; None once somebody else has answered.

    Raises:
        NeedsAnswer: the client has to be asked between two requests of its own.
    """
    asking = asyncio.create_task(asker.ask(question), name="asks the person at an MCP client")
    closing = asyncio.create_task(_closed(core, question.question_id), name="answered elsewhere")
    try:
        await asyncio.wait({asking, closing}, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else None
    finally:
        for task in (asking, closing):
            task.cancel()
        await asyncio.gather(asking, closing, return_exceptions=True)


async def _closed(core: Core, question_id: str) -> None:
    """Return once a question is open no more, or the core is gone."""
    async with core.events() as events:
        while any(one.question_id == question_id for one in (await core.overview()).questions):
            if await anext(events, None) is None:
                return


async def answer_once(
    connection: Connection, question: Question, answer: str, speaker: Speaker
) -> None:
    """Answer a question, unless somebody has done so already.

    Args:
        speaker: whose words the answer is.
    """
    op = UserInputAnswer(question_id=question.question_id, answer=answer, speaker=speaker)
    try:
        await connection.core.request(op)
    except UsageError:
        if any(
            one.question_id == question.question_id
            for one in (await connection.core.overview()).questions
        ):
            raise


async def _shown(connection: Connection, session_id: str, view: DirectView) -> Answer:
    text = view.text
    if view.status is DirectStatus.WAITING:
        text = f"{text} {_WAIT_ON}"
    if view.status is DirectStatus.OVER:
        connection.phones.pop(session_id, None)
    data = await connection.core.blob(view.picture) if view.picture else None
    return Answer(text=text, picture=data, picture_type=view.picture_type)
