"""The resources: what the operator sees, by URI, as it is stored.

Not the tools. Invariants: text is as the store has it, redacted; a picture is what a model that
sees would be sent, with secret fields covered; reading changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import quote, unquote

import msgspec

from agent import protocol
from agent.core import Core
from agent.errors import UsageError
from agent.knowledge.draft import as_toml
from agent.knowledge.library import Library
from agent.loop.images.scaling import scaled
from agent.loop.images.set_of_marks import marked
from agent.records import Observation
from agent.state.attention import attention
from agent.state.reducer import SessionView, State, from_overview, reduce_all
from agent.state.terms import term
from agent.text import one_line
from console.mcp.lines import line_of, phone_lines

SCHEME = "switchboard://"
ATTENTION = f"{SCHEME}attention"
PHONES = f"{SCHEME}phones"
_LISTED = 20
_MAX_CHARS = 100_000  # The most text that one reading brings; of a longer transcript, its end.
_WAITS = (
    *(
        protocol.RequestUserInput,
        protocol.QuestionAnswered,
        protocol.QuestionClosed,
        protocol.SessionStateChanged,
        protocol.DeviceChanged,
    ),
    *(protocol.JobChanged, protocol.WatcherChanged, protocol.CommitmentChanged),
)


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What a resource holds: text, or the bytes of a picture."""

    text: str = ""
    data: bytes | None = None
    media_type: str = "text/plain"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A family of resources."""

    uri: str
    name: str
    description: str
    read: Callable[[Core, Library, str], Awaitable[Content]]
    media_type: str = "text/plain"

    @property
    def ends(self) -> tuple[str, str]:
        """What stands before and after the part that varies."""
        before, _, rest = self.uri.partition("{")
        return before, rest.partition("}")[2]


async def _attention(core: Core) -> Content:
    waiting = attention(from_overview(await core.overview()))
    lines = [
        "  ".join(
            part
            for part in (term(one.kind), one.session_id, one.serial, one_line(one.text, 300))
            if part
        )
        for one in waiting
    ]
    return Content(text="\n".join(lines) or "Nothing is waiting for the operator.")


async def _phones(core: Core) -> Content:
    return Content(text=phone_lines((await core.overview()).devices))


async def _view(core: Core, session_id: str) -> SessionView:
    session = await core.session(session_id)
    past = await core.history(session.session_id)
    return reduce_all(State(), past).sessions[session.session_id]


async def _transcript(core: Core, _library: Library, session_id: str) -> Content:
    # Its words are those of the screens, which take half a second to load.
    from console.steps.session_text import session_text

    text = await session_text(await _view(core, session_id))
    cut = len(text) - _MAX_CHARS
    return Content(text=text if cut <= 0 else f"… {cut} characters before\n{text[cut:]}")


async def _screen(core: Core, _library: Library, session_id: str) -> Content:
    seen = await _newest_observation(core, session_id)
    app = seen.foreground
    return Content(text=f"{app.package}/{app.activity}\n{seen.screen_text}".strip())


async def _frame(core: Core, _library: Library, session_id: str) -> Content:
    seen = await _newest_observation(core, session_id)
    if seen.frame is None:
        raise UsageError("The session's last screen has no picture.", "Read its screen.")
    data = await core.blob(seen.frame.digest)
    picture = await asyncio.to_thread(lambda: marked(scaled(data), seen.elements).data)
    if picture is None:
        raise UsageError("The session's last picture cannot be read.", "Read its screen.")
    return Content(data=picture, media_type="image/jpeg")


async def _newest_observation(core: Core, session_id: str) -> Observation:
    seen = (await _view(core, session_id)).transcript.observation
    if seen is None:
        raise UsageError("The session has seen no screen yet.", "Read it once it has begun.")
    return seen


async def _card(_core: Core, library: Library, package: str) -> Content:
    card = library.of(package)
    if card is None:
        raise UsageError(
            "There is no card for that app.", "resources/list names the available ones."
        )
    return Content(text=as_toml(card), media_type="application/toml")


TEMPLATES = (
    Template(
        uri=f"{SCHEME}sessions/{{session}}/transcript",
        name="transcript",
        description="What a session did and said.",
        read=_transcript,
    ),
    Template(
        uri=f"{SCHEME}sessions/{{session}}/screen",
        name="screen",
        description="The last screen that a session saw, as text.",
        read=_screen,
    ),
    Template(
        uri=f"{SCHEME}sessions/{{session}}/frame",
        name="frame",
        description="The last screen that a session saw, as a picture with numbers.",
        read=_frame,
        media_type="image/jpeg",
    ),
    Template(
        uri=f"{SCHEME}apps/{{package}}",
        name="app",
        description="What is known of an app.",
        read=_card,
        media_type="application/toml",
    ),
)
_WHOLE: dict[str, Callable[[Core], Awaitable[Content]]] = {ATTENTION: _attention, PHONES: _phones}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A resource as it is listed."""

    uri: str
    name: str
    description: str
    media_type: str = "text/plain"


async def entries(core: Core, library: Library) -> list[Entry]:
    """List what can be read now: the newest sessions, and every app card."""
    found = [
        Entry(uri=ATTENTION, name="attention", description="What waits for the operator."),
        Entry(uri=PHONES, name="phones", description="The phones and who uses them."),
    ]
    for session in await core.sessions(limit=_LISTED):
        found += [
            Entry(
                uri=_uri_of(one, session.session_id),
                name=f"{one.name} of {session.session_id}",
                description=line_of(session),
                media_type=one.media_type,
            )
            for one in TEMPLATES[:3]
        ]
    found += [
        Entry(
            uri=_uri_of(TEMPLATES[3], card.package),
            name=card.app_name,
            description=TEMPLATES[3].description,
            media_type=TEMPLATES[3].media_type,
        )
        for card in library.all()
    ]
    return found


async def read(core: Core, library: Library, uri: str) -> Content:
    """Read a resource.

    Raises:
        UsageError: there is none at that URI, or it has nothing yet.
        SwitchboardError: the core does not answer.
    """
    whole = _WHOLE.get(uri)
    if whole is not None:
        return await whole(core)
    for template in TEMPLATES:
        before, after = template.ends
        varies = uri.removeprefix(before).removesuffix(after)
        if uri == f"{before}{varies}{after}" and varies and "/" not in varies:
            return await template.read(core, library, unquote(varies))
    raise UsageError(
        f"There is no resource {one_line(uri, 120)}.", "resources/list names the available ones."
    )


def changed_by(event: protocol.Event) -> Iterator[str]:
    """List the resources that an event changes."""
    if event.session_id:
        yield _uri_of(TEMPLATES[0], event.session_id)
        if isinstance(event.msg, protocol.ObservationRecorded):
            yield _uri_of(TEMPLATES[1], event.session_id)
            yield _uri_of(TEMPLATES[2], event.session_id)
    if isinstance(event.msg, protocol.DeviceChanged):
        yield PHONES
    if isinstance(event.msg, _WAITS):
        yield ATTENTION


def _uri_of(template: Template, of: str) -> str:
    before, after = template.ends
    return f"{before}{quote(of, safe='')}{after}"
