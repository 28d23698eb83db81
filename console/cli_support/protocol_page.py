"""Write docs/protocol.md and the JSON Schema of the socket from the types themselves.

Not the protocol. Invariant: every op, event and method is on the page because it is in its union;
`switchboard protocol page > docs/protocol.md` makes it anew.
"""

import typing
from typing import Any

import msgspec

from agent.codex_bridge.calls import CALLS
from agent.errors import RpcCode
from agent.protocol import LOOK_UPS, PROTOCOL_VERSION, Event, EventMsg, Op, Reply
from agent.rpc.connection import METHODS
from agent.rpc.rpc_messages import (
    CALLS_AT_ONCE,
    EVENT_CREDIT,
    MAX_CALL_BYTES,
    MAX_REPLY_BYTES,
    Problem,
)

METHOD_REPLIES = {
    "hello": "protocol, pid, client_id",
    "ping": "the same",
    "sign_in": "operator, grants, token?, expires_ms?",
    "sign_out": "as `hello`",
    "prove": "hasPassphrase, token?",
    "pairing_offer": "code, until_ms",
    "pairing_accept": "phone_id, name",
    "phone_act": "as `request`",
    "overview": "sessions, open questions, devices, jobs, notices, and the newest event id",
    "status": "pid, role, data directory, log, clients, session counts, devices",
    "submit": "submission_id at once; later failures arrive as error events",
    "request": "the op's reply, once it was executed",
    "history": "a page of stored events, and whether there are more",
    **{name: kind.returns for name, kind in LOOK_UPS.items()},
    "blob": "base64",
    "events": "nothing; then items, without gaps or duplicates",
    "deltas": "nothing; then the newest model output, one item per credit",
    "frames": "nothing; then the newest picture, one item per credit",
    "next": "nothing; grants credit for more items",
    "unsubscribe": "nothing",
}
CODES = {
    RpcCode.PARSE: "the line is not JSON, or too long",
    RpcCode.UNKNOWN_METHOD: "unknown method",
    RpcCode.INVALID_ARGUMENT: (
        "a parameter is missing, blank or wrong, or refers to something that does not exist"
    ),
    RpcCode.WRONG_STATE: (
        "not possible in the current state of the session or the core, or the operator lacks the "
        "right (`kind` `not_allowed`)"
    ),
    RpcCode.INTERNAL: "anything else",
}


def as_markdown() -> str:
    """Write the page."""
    ops = [
        f"| `{_tag(op)}` | {_fields(op)} | {_doc(op)} | {_right(op)} | {_allows(op)} "
        f"| {_back(op)} |"
        for op in _ops()
    ]
    events = [f"| `{_tag(event)}` | {_fields(event)} | {_doc(event)} |" for event in _events()]
    methods = [
        f"| `{name}` | {_fields(params)} | {METHOD_REPLIES.get(name, 'see its type')} |"
        for name, params in METHODS.items()
    ]
    codes = [f"| {int(code)} | {when} |" for code, when in CODES.items()]
    return "\n".join(
        (
            _HEAD.format(
                version=PROTOCOL_VERSION,
                call_bytes=MAX_CALL_BYTES,
                reply_bytes=MAX_REPLY_BYTES,
                calls=CALLS_AT_ONCE,
                credit=EVENT_CREDIT,
                bridge=", ".join(f"`{call}`" for call in CALLS),
            ),
            "## Methods\n",
            "| method | parameters | what comes back |\n|---|---|---|",
            *methods,
            "\n## Errors\n",
            "| code | when |\n|---|---|",
            *codes,
            "\n## Ops\n",
            "An op is an object with `type` and its fields; `submit` and `request` take it.",
            "The reply names the submission, and what the last column says. Where a core has",
            "[operators](operators.md), the right, or one of those named, is needed on the phone",
            "that the op concerns; answering an approval needs `approve`. What allows an agent",
            "`more` is taken from a person only, and `words` never from an agent's program as the",
            "operator's ([who may](safety.md#who-may-allow-more)).\n",
            "| type | fields | what it does | right | allows | what comes back |",
            "|---|---|---|---|---|---|",
            *ops,
            "\n## Events\n",
            "An event is `{event_id, session_id?, seq?, ts_ms, submission_id?, msg}`; `msg` has",
            "`type` and the fields of its row. What is of no session, as a device, has no",
            "`session_id` and no `seq`.\n",
            "| type | fields | what happened |\n|---|---|---|",
            *events,
            "\n## Kinds\n",
            "What the fields above hold: one of some words, or an object with fields of its own.\n",
            "| kind | is |\n|---|---|",
            *_kinds(),
            "",
        )
    )


def as_schema() -> dict[str, Any]:
    """Return the JSON Schema of ops, events, replies and errors, with shared definitions."""
    roots = {"op": Op, "event": Event, "reply": Reply, "error": Problem}
    schemas, components = msgspec.json.schema_components(
        list(roots.values()), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Switchboard protocol {PROTOCOL_VERSION}",
        "properties": dict(zip(roots, schemas, strict=True)),
        "$defs": components,
    }


def _ops() -> tuple[Any, ...]:
    return typing.get_args(Op)


def _events() -> tuple[Any, ...]:
    return typing.get_args(EventMsg)


def _tag(kind: Any) -> str:
    return str(kind.__struct_config__.tag)


def _doc(kind: Any) -> str:
    first = (kind.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def _fields(kind: Any) -> str:
    """Name the fields, each with what it holds unless that is text."""
    told = msgspec.inspect.type_info(kind)
    assert isinstance(told, msgspec.inspect.StructType)
    tagged = told.tag is not None and told.cls not in (*_ops(), *_events())
    named = [f"`{told.tag_field}` `{told.tag}`"] if tagged else []
    for field in told.fields:
        holds = _holds(field.type)
        said = f" {holds}" if holds not in ("", "text") else ""
        named.append(f"`{field.encode_name}`{'' if field.required else '?'}{said}")
    return ", ".join(named) or "–"


def _holds(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.StrType():
            return "text"
        case msgspec.inspect.BoolType():
            return "bool"
        case msgspec.inspect.IntType():
            return "int"
        case msgspec.inspect.FloatType():
            return "number"
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
            return f"[{_holds(kind.item_type)}]"
        case msgspec.inspect.EnumType() | msgspec.inspect.StructType():
            return kind.cls.__name__
        case msgspec.inspect.UnionType() if {getattr(one, "cls", None) for one in kind.types} == {
            *_ops()
        }:
            return "an op"
        case msgspec.inspect.UnionType():
            # None is what a field holds that is left out.
            return " or ".join(filter(None, map(_holds, kind.types)))
        case msgspec.inspect.NoneType():
            return ""
        case _:
            return "object"


def _kinds() -> list[str]:
    """Describe what fields name: enumerations by their values, structs by their fields."""
    found: dict[str, str] = {}
    waiting = [msgspec.inspect.type_info(kind) for kind in (*_ops(), *_events())]
    while waiting:
        kind = waiting.pop()
        match kind:
            case msgspec.inspect.EnumType():
                values = ", ".join(f"`{one.value}`" for one in kind.cls)
                found[kind.cls.__name__] = f"one of {values}"
            case msgspec.inspect.StructType():
                if kind.cls.__name__ in found:
                    continue
                if kind.cls not in (*_ops(), *_events()):
                    found[kind.cls.__name__] = _fields(kind.cls)
                waiting += [field.type for field in kind.fields]
            case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
                waiting.append(kind.item_type)
            case msgspec.inspect.UnionType():
                waiting += kind.types
            case _:
                continue
    return [f"| `{name}` | {said} |" for name, said in sorted(found.items())]


def _allows(op: Any) -> str:
    by = ", ".join(f"`{one}`" for one in op.allows_more_by)
    return f"{op.allows.value}; more with {by}" if by else op.allows.value


def _right(kind: Any) -> str:
    return " or ".join(kind.needs)


def _back(kind: Any) -> str:
    return str(kind.returns)


_HEAD = """# The socket's protocol

Version {version}. Made by `switchboard protocol page`; `switchboard protocol schema` prints the JSON
Schema. The process that owns a data directory listens on `<data dir>/core.sock` (0600, and only the
same user can connect); `switchboard daemon status` names the socket.

One JSON object per line, in UTF-8. A call is `{{"id", "method", "params"}}`, its reply
`{{"id", "result"}}` or `{{"id", "error": {{"code", "message", "data"}}}}`; a call without an id gets no
reply unless it fails. `data` of a refused op has the `event_id` up to which its reason is stored. A
subscription is numbered by the client and sends
`{{"subscription", "item"}}` while it has credit, and last `{{"subscription", "end": true}}` or an
`error`. Bounds: a call {call_bytes:,} bytes, a reply {reply_bytes:,}, {calls} calls under way at once,
{credit} events of credit at first. Each connection is a client: when it disconnects, the sessions
it drives and the drafts it holds are released. A dying core reports why on every connection, as an
error with `"id": null`.

Scripts written for the desktop bridge of Codex Android find its calls under their names:
{bridge}. Their results are in [cli.md](cli.md#the-session-object).

A `?` marks an optional field, omitted from replies at its default: a list without jobs has no
`jobs`. Fields hold text unless a type is given.
"""  # noqa: E501
