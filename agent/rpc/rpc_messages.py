"""What the daemon and its clients say to each other over the unix socket.

Neither of the two ends (those are `agent.rpc.rpc_server` and `agent.rpc.remote_core`). One JSON
object a line, in UTF-8. A call is `{"id", "method", "params"}` and its reply `{"id", "result"}` or
`{"id", "error": {"code", "message", "data"}}`, with the codes of the Codex Android bridge; a call
without an id gets no reply unless it fails. A subscription is numbered by the client and sends
`{"subscription", "item"}` for as long as the client grants credit with the call `next`, and last
`{"subscription", "end": true}` or an `error`. Invariant: an error that crosses the socket comes out
as the class that went in.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from agent import errors
from agent.core import TextDelta
from agent.errors import ModelError, RpcCode, StoreError, SwitchboardError
from agent.operators.operator import Grant
from agent.protocol import Event, LookUp, Number, Op
from agent.records import DeviceInfo, LiveFrame

MAX_CALL_BYTES = 1 << 20
"""The longest line that the daemon reads."""

MAX_REPLY_BYTES = 1 << 26
"""The longest line that a client reads: a full-size frame fits several times."""

PAGE_BYTES = 1 << 22
"""About how many bytes of a session's history travel in one reply."""

EVENT_CREDIT = 256
"""How many events of a subscription may be on their way at first and at most.

Frames and deltas begin without credit: a client asks for each one when it is ready to show it.
"""

CALLS_AT_ONCE = 64
"""How many calls of one client may be under way."""

CALLS_IN_RESERVE = 8
"""How many more may be, of those that stop something or look at what is at work."""

NONCE_BYTES = 32
"""What a host that signs in adds to the challenge."""


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line from a client."""

    method: str
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


LOOKS_IN_RESERVE = frozenset({"status", "overview", "sessions", "session"})
"""The methods that look at what is at work."""
_STOPS = frozenset(op.__struct_config__.tag for op in get_args(Op) if op.stops)


class _Tagged(msgspec.Struct, frozen=True):
    type: str = ""


class _TaggedOp(msgspec.Struct, frozen=True):
    op: _Tagged = _Tagged()


_tag_decoder = msgspec.json.Decoder(_TaggedOp)


def is_reserved(call: Call) -> bool:
    """Return whether a call has a place of its own: it stops something, or looks."""
    if call.method in LOOKS_IN_RESERVE:
        return True
    if call.method not in {"submit", "request"}:
        return False
    try:
        return _tag_decoder.decode(call.params).op.type in _STOPS
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error on the wire; `data` is enough to raise it again as what it was."""

    code: int
    message: str
    data: dict[str, Any] = {}


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line from the daemon: a reply when it has an id, else of a subscription."""

    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: Problem | None = None
    subscription: int | None = None
    item: msgspec.Raw = msgspec.Raw(b"")
    end: bool = False


class _Params(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what a method takes."""


class Nothing(_Params, frozen=True, kw_only=True):
    """No parameters: `ping`, `overview`, `status`."""


class HelloParams(_Params, frozen=True, kw_only=True, omit_defaults=True):
    """`hello`: what the client is, for people who see who drives a session."""

    client: Annotated[str, msgspec.Meta(max_length=80)] = ""
    as_host: bool = False  # Whether it is a host of the fleet, which then has to sign in as one.
    speaks_for: Literal["", "model", "programs"] = ""
    """Whom it passes on: an agent's model, or programs that it cannot see; then no person is ever
    behind it (`agent.consent.gate`)."""


class SignInParams(_Params, frozen=True, kw_only=True, omit_defaults=True):
    """`sign_in`: with a token, with a public key and the challenge that it signed, or with the ID
    token of an account and the verifier of its nonce (`agent.oidc`); a host of the fleet with its
    name, a nonce and a proof (`agent.rpc.host_door`).
    """

    token: Annotated[str, msgspec.Meta(max_length=200)] = ""
    public: bytes = b""
    signature: bytes = b""
    host: Annotated[str, msgspec.Meta(max_length=200)] = ""
    nonce: Annotated[bytes, msgspec.Meta(max_length=NONCE_BYTES)] = b""
    proof: Annotated[bytes, msgspec.Meta(max_length=64)] = b""
    id_token: Annotated[str, msgspec.Meta(max_length=16_384)] = ""
    verifier: Annotated[bytes, msgspec.Meta(max_length=64)] = b""

    def __repr__(self) -> str:
        """Return its name alone: a token is never written anywhere."""
        return "SignInParams(…)"


class ProveParams(_Params, frozen=True, kw_only=True, omit_defaults=True):
    """`prove`: a person's passphrase, which unlocks the terminal of the client, or the token of a
    script; with `chooses` the passphrase is a new one.
    """

    passphrase: Annotated[str, msgspec.Meta(max_length=1024)] = ""
    chooses: bool = False
    token: Annotated[str, msgspec.Meta(max_length=200)] = ""

    def __repr__(self) -> str:
        """Return its name alone: a passphrase is never written anywhere."""
        return "ProveParams(…)"


class PairingOfferParams(_Params, frozen=True, kw_only=True):
    """`pairing_offer`: begin to pair a phone of the operator's; only a person may."""

    name: Annotated[str, msgspec.Meta(max_length=80)]
    life_s: int


class PairingAcceptParams(_Params, frozen=True, kw_only=True):
    """`pairing_accept`: the phone that shows the code, with a key that signed it."""

    code: Annotated[str, msgspec.Meta(max_length=200)]
    public: Annotated[bytes, msgspec.Meta(max_length=200)]
    signature: Annotated[bytes, msgspec.Meta(max_length=200)]

    def __repr__(self) -> str:
        """Return its name alone: a code is never written anywhere."""
        return "PairingAcceptParams(…)"


class PhoneActParams(_Params, frozen=True, kw_only=True):
    """`phone_act`: what a paired phone signed (`agent.consent.phone_statements`)."""

    phone_id: Annotated[str, msgspec.Meta(max_length=80)]
    statement: Annotated[str, msgspec.Meta(max_length=20_000)]
    signature: Annotated[bytes, msgspec.Meta(max_length=200)]


class OpParams(_Params, frozen=True, kw_only=True):
    """`submit` and `request`."""

    op: Op


class HistoryParams(_Params, frozen=True, kw_only=True):
    """`history`; the reply may be shorter than asked and then says that there is more."""

    session_id: str
    after_seq: Number = 0
    before_seq: Number = 0
    limit: int = 10_000


class BlobParams(_Params, frozen=True, kw_only=True):
    """`blob`; the reply is base64."""

    digest: str


class EventsParams(_Params, frozen=True, kw_only=True):
    """`events`: follow them from after an event id, or only those to come."""

    subscription: int
    after: Number | None = None


class DeltasParams(_Params, frozen=True, kw_only=True, omit_defaults=True):
    """`deltas`: of all sessions at the core's host, or of one, wherever it is."""

    subscription: int
    session_id: str = ""


class FramesParams(_Params, frozen=True, kw_only=True):
    """`frames`."""

    subscription: int
    serial: str
    width_px: int
    height_px: int
    max_hz: float


class NextParams(_Params, frozen=True, kw_only=True):
    """`next`: grant credit for more items."""

    subscription: int
    count: int = 1


class UnsubscribeParams(_Params, frozen=True, kw_only=True):
    """`unsubscribe`."""

    subscription: int


class FleetStore(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet's database that a core works on, as its clients on the same computer learn it."""

    store: str
    """The identity of the store."""
    database: str
    """The names of the database and of its server, for people."""
    salt: bytes
    digest: bytes
    """Of the address that the core was started with; see `agent.rpc.fleet_store`."""


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `hello` and `ping`."""

    protocol: int
    pid: int
    client_id: str = ""
    challenge: bytes = b""
    """What has to be signed, where the core has operators and nobody has signed in here."""
    fleet: FleetStore | None = None
    """The fleet's database; None where there is none, and for clients on other computers."""


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `sign_in`."""

    operator: str
    grants: tuple[Grant, ...]
    proof: bytes = b""  # Of the host that a host signed in at.
    token: str = ""  # To sign in with from now on, where an ID token was shown.
    expires_ms: int = 0  # When that token ends.

    def __repr__(self) -> str:
        """Return the operator alone: a token is never written anywhere."""
        return f"SignedIn(operator={self.operator!r}, …)"


class ClientStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One connection to the socket."""

    client_id: str
    name: str
    since_ms: int
    operator: str = ""
    looks_at: tuple[str, ...] = ()  # The phones whose pictures it follows now.
    drives: tuple[str, ...] = ()  # The sessions that it drives.


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `status`: the process that owns a data directory, and what goes on in it."""

    pid: int
    protocol: int
    role: str  # What kind of process it is: daemon, console, run or another command.
    data_dir: str
    socket: str
    log: str
    started_ms: int
    clients: tuple[ClientStatus, ...]
    sessions: dict[str, int]  # How many of the newest sessions are in each state.
    questions: int
    devices: tuple[DeviceInfo, ...]
    jobs: int


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `submit`."""

    submission_id: str


class HistoryPage(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `history`; each event is JSON still."""

    events: tuple[msgspec.Raw, ...]
    more: bool


class BlobReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to `blob`."""

    data: bytes


Params = (
    Nothing
    | HelloParams
    | SignInParams
    | ProveParams
    | PairingOfferParams
    | PairingAcceptParams
    | PhoneActParams
    | OpParams
    | LookUp[Any]
    | HistoryParams
    | BlobParams
    | EventsParams
    | DeltasParams
    | FramesParams
    | NextParams
    | UnsubscribeParams
)
Item = Event | TextDelta | LiveFrame

_CLASSES: dict[str, type[SwitchboardError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, SwitchboardError)
}


def problem_of(error: SwitchboardError) -> Problem:
    """Put an error on the wire."""
    data: dict[str, Any] = {"class": type(error).__name__, "kind": str(error.kind)}
    if error.remedy:
        data["remedy"] = error.remedy
    if error.event_id:
        data["event_id"] = error.event_id
    if isinstance(error, ModelError):
        data["retryable"] = error.retryable
        data["status"] = error.status
        data["retry_after_s"] = error.retry_after_s
    return Problem(code=int(error.code), message=error.message, data=data)


def error_of(problem: Problem) -> SwitchboardError:
    """Take an error off the wire; of a class that is not known here, by its code."""
    error = _by_class(problem)
    event_id = problem.data.get("event_id")
    if isinstance(event_id, int) and not isinstance(event_id, bool) and event_id > 0:
        error.event_id = event_id
    return error


def _by_class(problem: Problem) -> SwitchboardError:
    data = problem.data
    remedy = data.get("remedy", "")
    remedy = remedy if isinstance(remedy, str) else ""
    kind = _CLASSES.get(str(data.get("class", "")))
    if kind is None:
        kind = {
            int(RpcCode.INVALID_ARGUMENT): errors.UsageError,
            int(RpcCode.WRONG_STATE): errors.WrongStateError,
        }.get(problem.code, SwitchboardError)
    if issubclass(kind, ModelError):
        status, wait_s = data.get("status"), data.get("retry_after_s")
        return kind(
            problem.message,
            remedy,
            retryable=data.get("retryable") is True,
            status=status if isinstance(status, int) else None,
            retry_after_s=float(wait_s) if isinstance(wait_s, int | float) else None,
        )
    error = kind(problem.message, remedy)
    if problem.code != error.code and problem.code in set(RpcCode):
        error.code = RpcCode(problem.code)
    return error


def fitting(body: bytes) -> bytes:
    """Refuse what no client would read to its end."""
    if len(body) > MAX_REPLY_BYTES - 1024:
        raise StoreError(
            f"The answer is too large for the socket: {len(body):,} bytes.",
            "Read it in the process that owns the data directory.",
        )
    return body


def socket_path(data_dir: Path) -> Path:
    """Return where the owner of a data directory listens: `<data_dir>/core.sock`.

    The daemon and its clients both ask here; `short_address` reaches it however long the path is.
    """
    return data_dir.absolute() / "core.sock"
