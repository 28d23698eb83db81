"""The session tools: a client gives goals to Switchboard's own agents, and follows them.

Invariants: a client steers only what it began; it answers questions and never approvals, which stay
with the operator; the autonomy and the budgets that it asks for are within the settings'.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec

from agent import protocol, records
from agent.errors import UsageError
from agent.sessions.rollout.rollout_write import Blobs, export_rollout
from agent.state.reducer import State, reduce_all
from agent.text import counted, one_line
from agent.tools.arguments import Arguments
from console.mcp.job_tools import JOB_TOOLS
from console.mcp.lines import line_of, phone_lines
from console.mcp.phone_tools import answer_once, ask_here
from console.mcp.taking_back import begin_session
from console.mcp.tool import LOOKS, Answer, Asker, Connection, Hints, McpTool, op_of, tool_of

_SESSION_ID = Annotated[str, msgspec.Meta(description="The session's id, or its beginning.")]
_MAX_WATCH_S = 50.0
_TRANSCRIPT_CHARS = 20_000


class Nothing(Arguments, frozen=True, kw_only=True):
    pass


class StartSession(Arguments, frozen=True, kw_only=True):
    goal: Annotated[str, msgspec.Meta(description="What the agent is to do, in plain words.")]
    phone: Annotated[str, msgspec.Meta(description="Serial; left out: a free phone.")] = ""
    tag: Annotated[str, msgspec.Meta(description="Instead of phone: one with this tag.")] = ""
    needs: Annotated[
        str,
        msgspec.Meta(
            description="Instead of phone: what it has to be, as "
            "tag:wall,app:com.example>=3.2,locale:de,android>=13; it is waited for."
        ),
    ] = ""
    max_steps: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    max_seconds: Annotated[float, msgspec.Meta(ge=0, description="Of work; 0: as set.")] = 0.0
    max_tokens: Annotated[int, msgspec.Meta(ge=0, description="In and out; 0: as set.")] = 0
    max_cost_usd: Annotated[float, msgspec.Meta(ge=0, description="0: as set.")] = 0.0
    autonomy: Annotated[
        records.Autonomy | None,
        msgspec.Meta(
            description="How much it may do without asking, within the configured limits."
        ),
    ] = None


class ListSessions(Arguments, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 20


class OneSession(Arguments, frozen=True, kw_only=True):
    session: _SESSION_ID


class WatchSession(Arguments, frozen=True, kw_only=True):
    session: _SESSION_ID
    wait_s: Annotated[float, msgspec.Meta(ge=0, le=_MAX_WATCH_S)] = 30.0


class ReadTranscript(Arguments, frozen=True, kw_only=True):
    session: _SESSION_ID
    last_chars: Annotated[int, msgspec.Meta(ge=100, le=_TRANSCRIPT_CHARS)] = 4000


class SteerSession(Arguments, frozen=True, kw_only=True):
    session: _SESSION_ID
    text: Annotated[str, msgspec.Meta(description="A hint, or what to do next.")]


class AnswerQuestion(Arguments, frozen=True, kw_only=True):
    session: _SESSION_ID
    answer: str


async def _phones(connection: Connection, _asker: Asker, _given: Nothing) -> Answer:
    return Answer(text=phone_lines((await connection.core.overview()).devices))


async def _start(connection: Connection, _asker: Asker, given: StartSession) -> Answer:
    online = [
        one
        for one in (await connection.core.overview()).devices
        if one.state is records.DeviceState.ONLINE
    ]
    if not online and not given.needs:
        raise UsageError("No phone is connected.", "Have the operator connect one.")
    if given.tag and given.phone:
        raise UsageError("Both a phone and a tag are named.", "Name one of them.")
    if given.needs and (given.tag or given.phone):
        raise UsageError("needs and a phone or a tag are named.", "Put the tag into needs.")
    op = op_of(
        protocol.SessionCreate,
        given,
        serial=_with_tag(online, given.tag) if given.tag else given.phone,
        budget=records.Budget(
            seconds=given.max_seconds, tokens=given.max_tokens, cost_usd=given.max_cost_usd
        ),
        speaker=records.Speaker.MODEL,
    )
    session_id = await begin_session(connection, op)
    connection.begun.add(session_id)
    return Answer(text=f"Session {session_id} has begun. Follow it with watch_session.")


def _with_tag(online: Sequence[records.DeviceInfo], tag: str) -> str:
    """Return the serial of a phone with a tag, of a free one first. Raises UsageError: none."""
    found = [one for one in online if tag in one.tags]
    if not found:
        known = ", ".join(sorted({each for one in online for each in one.tags})) or "none"
        raise UsageError(f"No connected phone has the tag {one_line(tag, 40)}.", f"Tags: {known}.")
    return min(found, key=lambda one: bool(one.driver)).serial


async def _list(connection: Connection, _asker: Asker, given: ListSessions) -> Answer:
    found = await connection.core.sessions(limit=given.limit)
    overview = await connection.core.overview()
    lines = [line_of(one, overview) for one in found]
    return Answer(text="\n".join(lines) or "There are no sessions.")


async def _watch(connection: Connection, asker: Asker, given: WatchSession) -> Answer:
    core = connection.core
    session = await core.session(given.session)
    loop = asyncio.get_running_loop()
    until = loop.time() + given.wait_s
    heard = 0
    async with core.events() as events:
        session = await core.session(session.session_id)
        while not _rests(session) and (left_s := until - loop.time()) > 0:
            try:
                async with asyncio.timeout(left_s):
                    event = await anext(events)
            except (TimeoutError, StopAsyncIteration):
                break
            if event.session_id == session.session_id:
                session = await core.session(session.session_id)
                heard += 1
                told = f"{line_of(session)}, step {session.steps}"
                await asker.progress(float(heard), told)
    if session.session_id in connection.begun:
        await ask_here(connection, asker, session.session_id)
    overview = await core.overview()
    lines = [line_of(session, overview), f"{counted(session.steps, 'step')}"]
    is_done = session.state is records.SessionState.COMPLETED
    said = session.latest_result if is_done else session.latest_error or session.latest_result
    if said:
        lines.append(said)
    lines += [_question_text(one) for one in await _questions(connection, session.session_id)]
    return Answer(text="\n".join(lines))


def _rests(session: records.Session) -> bool:
    waits = session.state is records.SessionState.WAITING_FOR_USER
    return session.state.is_terminal or waits or not session.turn_id


async def _questions(connection: Connection, session_id: str) -> list[records.Question]:
    questions = (await connection.core.overview()).questions
    return [one for one in questions if one.session_id == session_id]


def _question_text(question: records.Question) -> str:
    is_approval = question.kind is records.QuestionKind.APPROVAL
    whom = "A person, at the operator's console," if is_approval else "Somebody"
    options = ", ".join(one.shown for one in question.options)
    return f"{whom} is asked: {question.shown}" + (f" ({options})" if options else "")


async def _transcript(connection: Connection, _asker: Asker, given: ReadTranscript) -> Answer:
    session = await connection.core.session(given.session)
    past = await connection.core.history(session.session_id)
    view = reduce_all(State(), past).sessions[session.session_id]
    # Its words are those of the screens, which take half a second to load.
    from console.steps.session_text import session_text

    text = await session_text(view)
    cut = len(text) - given.last_chars
    return Answer(text=text if cut <= 0 else f"… {cut} characters before\n{text[cut:]}")


async def _own(connection: Connection, session_id: str) -> records.Session:
    """Return a session that this client began: what others began is steered by people alone."""
    session = await connection.core.session(session_id)
    if session.session_id not in connection.begun:
        raise UsageError(
            f"Session {session.session_id} was not started by you.",
            "You may read it; the operator steers it.",
        )
    return session


async def _steer(connection: Connection, _asker: Asker, given: SteerSession) -> Answer:
    session = await _own(connection, given.session)
    op = op_of(
        protocol.UserInput, given, session_id=session.session_id, speaker=records.Speaker.MODEL
    )
    await connection.core.request(op)
    return Answer(text="Sent.")


async def _answer(connection: Connection, _asker: Asker, given: AnswerQuestion) -> Answer:
    session = await _own(connection, given.session)
    asked = await _questions(connection, session.session_id)
    if not asked:
        raise UsageError(f"Session {session.session_id} has no open question.")
    if asked[0].kind is records.QuestionKind.APPROVAL:
        raise UsageError(
            "This is an approval: only a person may give it, at the operator's console.",
            "Wait with watch_session; nothing that you run can answer it.",
        )
    await answer_once(connection, asked[0], given.answer, records.Speaker.MODEL)
    return Answer(text="Answered.")


async def _stop(connection: Connection, _asker: Asker, given: OneSession) -> Answer:
    session = await _own(connection, given.session)
    await connection.core.request(op_of(protocol.Interrupt, given, session_id=session.session_id))
    return Answer(text=line_of(await connection.core.session(session.session_id)))


async def _resume(connection: Connection, _asker: Asker, given: OneSession) -> Answer:
    session = await _own(connection, given.session)
    await connection.core.request(
        op_of(protocol.SessionResume, given, session_id=session.session_id)
    )
    return Answer(text=line_of(await connection.core.session(session.session_id)))


async def _fork(connection: Connection, _asker: Asker, given: OneSession) -> Answer:
    session = await _own(connection, given.session)
    op = op_of(protocol.SessionFork, given, session_id=session.session_id)
    session_id = await begin_session(connection, op)
    connection.begun.add(session_id)
    return Answer(text=f"Session {session_id} is a copy; steer_session says what it does.")


async def _export(connection: Connection, _asker: Asker, given: OneSession) -> Answer:
    session = await connection.core.session(given.session)
    if connection.exports is None:
        raise UsageError("Sessions cannot be exported here.", "Read it with read_transcript.")
    await asyncio.to_thread(connection.exports.mkdir, mode=0o700, parents=True, exist_ok=True)
    # Without frames and prompts: what was on a screen beside its elements is the operator's.
    done = await export_rollout(
        connection.core, session.session_id, connection.exports, blobs=Blobs.NONE, overwrite=True
    )
    return Answer(text=f"{counted(done.events, 'event')}, without frames: {done.path}")


_WORKS = Hints(destroys=True, is_open=True)
"""What an agent does on a phone may not be undone."""

SESSION_TOOLS: tuple[McpTool, ...] = (  # type: ignore[type-arg]
    McpTool(
        "list_phones", "List phones", "List the phones and who uses them.", Nothing, _phones, LOOKS
    ),
    tool_of(
        "start_session",
        "Start a session",
        protocol.SessionCreate,
        StartSession,
        _start,
        hints=_WORKS,
    ),
    McpTool(
        "list_sessions", "List sessions", "List sessions, newest first.", ListSessions, _list, LOOKS
    ),
    McpTool(
        "watch_session",
        "Watch a session",
        "Wait until a session ends or asks.",
        WatchSession,
        _watch,
        LOOKS,
    ),
    McpTool(
        "read_transcript",
        "Read a transcript",
        "Read what a session did.",
        ReadTranscript,
        _transcript,
        LOOKS,
    ),
    tool_of(
        "steer_session", "Steer a session", protocol.UserInput, SteerSession, _steer, hints=_WORKS
    ),
    tool_of(
        "answer_question",
        "Answer a question",
        protocol.UserInputAnswer,
        AnswerQuestion,
        _answer,
        " Approvals are a person's.",
        hints=_WORKS,
    ),
    tool_of(
        "stop_session",
        "Stop a session",
        protocol.Interrupt,
        OneSession,
        _stop,
        hints=Hints(is_idempotent=True),
    ),
    tool_of(
        "resume_session",
        "Resume a session",
        protocol.SessionResume,
        OneSession,
        _resume,
        hints=_WORKS,
    ),
    tool_of("fork_session", "Fork a session", protocol.SessionFork, OneSession, _fork),
    McpTool(
        "export_session",
        "Export a session",
        "Write what a session did to a file.",
        OneSession,
        _export,
        Hints(is_idempotent=True),
    ),
    *JOB_TOOLS,
)
