"""Answer the bridge's session calls over a Core: list, read, create, start, answer, cancel, clear.

Not a transport: the socket and the command line hand in names and parameters. Invariant: a call
either did what the bridge's call of that name does, or raises an error with the bridge's code.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from agent import protocol
from agent.codex_bridge.question_search import find_question, question_in, questions_by_session
from agent.codex_bridge.session_object import session_object, thread_id, timeline
from agent.core import Core
from agent.errors import RpcCode, UsageError, WrongStateError
from agent.records import ReasoningEffort, SessionState, TargetAction, TargetStatus

PREFIX = "androidSession/"
LIST_LIMIT = 1000
GENIE = "switchboard"
"""What stands for the package of the genie: Switchboard's own loop does the work."""

Request: TypeAlias = Callable[[protocol.Op], Awaitable[protocol.Reply]]
Blankless = Annotated[str, msgspec.Meta(pattern=r"\S")]


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of what a call takes; fields that are not known here are let be."""


class _None(_Params, frozen=True, kw_only=True):
    """`list`."""


class _Id(_Params, frozen=True, kw_only=True):
    """`read`, `letThrough`, `cancel`, `attachTarget`, `attach`."""

    session_id: Blankless


class _Create(_Params, frozen=True, kw_only=True):
    """`create`: with a package a home draft, else a draft of an agent session."""

    target_package: str | None = None
    model: str | None = None
    reasoning_effort: ReasoningEffort | None = None


class _Start(_Params, frozen=True, kw_only=True):
    """`start`."""

    session_id: Blankless
    prompt: Blankless
    let_through: bool = False


class _Answer(_Params, frozen=True, kw_only=True):
    """`answer`."""

    session_id: Blankless
    answer: Blankless
    let_through: bool = False


class _Clear(_Params, frozen=True, kw_only=True):
    """`clear`."""

    all: bool = False


P = TypeVar("P", bound=_Params)


class Bridge:
    """The calls of one client.

    Args:
        core: what is looked at.
        request: carries an op out in the client's name.
        socket: where the core is served, for whoever attaches.
    """

    def __init__(self, core: Core, request: Request, *, socket: str = "") -> None:
        self._core = core
        self._request = request
        self._socket = socket

    async def call(self, method: str, params: bytes | msgspec.Raw) -> dict[str, Any]:
        """Answer one call by its name after the slash.

        Raises:
            UsageError: there is no such call, or its parameters cannot be used.
            SwitchboardError: what the core refused it with.
        """
        match method:
            case "list":
                _read(method, params, _None)
                return await self.list()
            case "read":
                return await self.read(_read(method, params, _Id).session_id)
            case "create":
                wanted = _read(method, params, _Create)
                op = protocol.SessionCreate(
                    goal="",
                    target_package=wanted.target_package or "",
                    model=wanted.model or "",
                    reasoning_effort=wanted.reasoning_effort,
                )
                return await self.create(op)
            case "start":
                begun = _read(method, params, _Start)
                return await self.start(
                    begun.session_id, begun.prompt, let_through=begun.let_through
                )
            case "answer":
                said = _read(method, params, _Answer)
                return await self.answer(said.session_id, said.answer, let_through=said.let_through)
            case "letThrough":
                return await self.let_through(_read(method, params, _Id).session_id)
            case "cancel":
                return await self.cancel(_read(method, params, _Id).session_id)
            case "clear":
                return await self.clear(all_sessions=_read(method, params, _Clear).all)
            case "attachTarget":
                return await self.attach_target(_read(method, params, _Id).session_id)
            case "attach":
                return await self.attach(_read(method, params, _Id).session_id)
            case _:
                raise UnknownCall(
                    f"There is no method {PREFIX + method[:60]!r}.",
                    f"There are {', '.join(CALLS)}.",
                )

    async def list(self, *, limit: int = LIST_LIMIT) -> dict[str, Any]:
        """List sessions, newest first."""
        found = await self._core.sessions(limit=limit)
        overview = await self._core.overview()
        asked = questions_by_session(found, overview)
        devices = overview.devices
        return {"data": [session_object(one, asked[one.session_id], devices) for one in found]}

    async def read(self, session_id: str) -> dict[str, Any]:
        """Return one session and the last twelve things that happened in it."""
        session = await self._core.session(session_id)
        history = await self._core.history(session.session_id)
        overview = await self._core.overview()
        asked = question_in(session, overview)
        told = session_object(session, asked, overview.devices)
        return {**told, "timeline": timeline(history)}

    async def create(self, op: protocol.SessionCreate) -> dict[str, Any]:
        """Make a draft of what is asked for, and give it."""
        made = await self._request(replace(op, start=False))
        return await self._object(made.session_id)

    async def start(
        self, session_id: str, prompt: str, *, let_through: bool = False
    ) -> dict[str, Any]:
        """Start a draft, or give an idle session its next prompt."""
        session = await self._core.session(session_id)
        if session.state is SessionState.WAITING_FOR_USER and not session.turn_id:
            told: protocol.Op = protocol.UserInput(
                session_id=session.session_id, text=prompt, let_through=let_through
            )
        else:
            told = protocol.SessionStart(
                session_id=session.session_id, prompt=prompt, let_through=let_through
            )
        await self._request(told)
        return await self.started(session.session_id)

    async def started(self, session_id: str) -> dict[str, Any]:
        """Return a session that was started, and what was planned for it so far."""
        children = [
            one for one in (await self._core.overview()).sessions if one.parent_id == session_id
        ]
        return {
            **await self._object(session_id),
            "geniePackage": GENIE,
            "plannedTargets": [
                {
                    "packageName": one.target_package or None,
                    "objective": one.goal,
                    "finalPresentationPolicy": one.required_presentation.value,
                }
                for one in children
            ],
            "childSessionIds": [one.session_id for one in children],
        }

    async def answer(
        self, session_id: str, answer: str, *, let_through: bool = False
    ) -> dict[str, Any]:
        """Answer what a session, or a child of it, asks."""
        question = await find_question(self._core, session_id)
        await self._request(
            protocol.UserInputAnswer(
                question_id=question.question_id, answer=answer, let_through=let_through
            )
        )
        return {"ok": True}

    async def let_through(self, session_id: str) -> dict[str, Any]:
        """Send again, unredacted, what the operator wrote to a session and lost secrets."""
        session = await self._core.session(session_id)
        await self._request(protocol.SessionLetThrough(session_id=session.session_id))
        return {"ok": True}

    async def cancel(self, session_id: str) -> dict[str, Any]:
        """End a session, and its tree."""
        session = await self._core.session(session_id)
        await self._request(protocol.SessionCancel(session_id=session.session_id))
        return {"ok": True}

    async def clear(self, *, all_sessions: bool) -> dict[str, Any]:
        """End and delete every tree that is not kept."""
        reply = await self._request(protocol.SessionClear(all=all_sessions))
        return {
            "ok": not (reply.failed_ids or reply.remaining_ids),
            "clearedSessionIds": list(reply.session_ids),
            "failedSessionIds": dict(reply.failed_ids),
            "remainingSessionIds": list(reply.remaining_ids),
        }

    async def attach_target(self, session_id: str) -> dict[str, Any]:
        """Bring the app of a session to the phone's main display."""
        session = await self._core.session(session_id)
        op = protocol.TargetControl(session_id=session.session_id, action=TargetAction.ATTACH)
        target = (await self._request(op)).target
        if target is not None and target.status is not TargetStatus.OK:
            raise WrongStateError(
                f"The app of session {session.session_id} was not attached: "
                f"{target.status.value}. {target.message}".strip(),
                "See where it is: switchboard sessions show " + session.session_id,
            )
        return {"ok": True}

    async def attach(self, session_id: str) -> dict[str, Any]:
        """Drive a session from this client on."""
        reply = await self._request(protocol.SessionAttach(session_id=session_id))
        session = await self._core.session(reply.session_id)
        return {
            "sessionId": session.session_id,
            "threadId": thread_id(session) or session.session_id,
            "websocketPath": None,
            "socketPath": self._socket or None,
        }

    async def _object(self, session_id: str) -> dict[str, Any]:
        return session_object(await self._core.session(session_id))


CALLS = tuple(
    PREFIX + name
    for name in (
        *("list", "read", "create", "start", "answer", "letThrough"),
        *("cancel", "clear", "attachTarget", "attach"),
    )
)


class UnknownCall(UsageError):
    """The bridge has no such call."""

    code = RpcCode.UNKNOWN_METHOD


def _read(method: str, params: bytes | msgspec.Raw, kind: type[P]) -> P:
    try:
        return msgspec.json.decode(params, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"{PREFIX}{method} cannot be called like this: {error}.", "Correct the field it names."
        ) from error
