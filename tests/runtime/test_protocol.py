"""Every Op and every Event goes to JSON and back without loss; what is no op says why."""

import collections.abc
import enum
import types
import typing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.errors import RpcCode, UsageError
from agent.protocol import Event, EventMsg, Op, Reply, decode_event, decode_msg, decode_op, encode
from agent.protocol.base import EventBase, OpBase

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    Any: JSON_VALUES,
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Make a strategy for a field's type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        metas = [one for one in arguments[1:] if isinstance(one, msgspec.Meta)]
        return within(arguments[0], metas)
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin in {typing.Union, types.UnionType}:
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin in {dict, collections.abc.Mapping}:
        return st.dictionaries(st.text(max_size=3), values_of(arguments[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(hint)
    assert isinstance(hint, type)
    assert issubclass(hint, msgspec.Struct), hint
    hints = typing.get_type_hints(hint, include_extras=True)
    fields = {field.name: values_of(hints[field.name]) for field in msgspec.structs.fields(hint)}
    return st.builds(hint, **fields)


def within(hint: Any, metas: list[msgspec.Meta]) -> st.SearchStrategy[Any]:
    names = ("pattern", "ge", "le", "min_length")
    bounds: dict[str, Any] = {}
    for meta in metas:
        bounds |= {name: found for name in names if (found := getattr(meta, name)) is not None}
    if bounds.get("pattern"):
        return st.from_regex(bounds["pattern"], fullmatch=True).filter(lambda t: len(t) < 80)
    if hint is int:
        return st.integers(bounds.get("ge", -(2**63)), bounds.get("le", 2**63 - 1))
    if hint is str:
        return st.text(min_size=bounds.get("min_length", 0), max_size=8)
    return values_of(hint)


OPS = typing.get_args(Op)
MESSAGES = typing.get_args(EventMsg)


def test_every_verb_has_a_tag_of_its_own() -> None:
    for union in (OPS, MESSAGES):
        tags = [kind.__struct_config__.tag for kind in union]
        assert len(set(tags)) == len(tags) > 10


@pytest.mark.parametrize("kind", OPS, ids=lambda kind: kind.__name__)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_an_op_survives_json(kind: type[Op], data: st.DataObject) -> None:
    op = data.draw(values_of(kind))
    line = encode(op)
    assert b"\n" not in line
    assert decode_op(line) == op
    assert decode_op(line.decode()) == op


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_an_event_survives_json(kind: type[EventMsg], data: st.DataObject) -> None:
    msg = data.draw(values_of(kind))
    assert decode_msg(encode(msg)) == msg
    event = Event(event_id=1, session_id="s", seq=2, ts_ms=3, submission_id="x", msg=msg)
    line = encode(event)
    assert b"\n" not in line
    assert decode_event(line) == event


@settings(max_examples=30, deadline=None)
@given(values_of(Reply))
def test_a_reply_survives_json(reply: Reply) -> None:
    assert msgspec.json.decode(encode(reply), type=Reply) == reply


def test_an_event_of_a_newer_version_is_read_without_what_is_new() -> None:
    known = decode_event('{"event_id":1,"ts_ms":2,"msg":{"type":"step_started","step":3}}')
    newer = '{"event_id":1,"ts_ms":2,"mood":1,"msg":{"type":"step_started","step":3,"speed":9}}'
    assert decode_event(newer) == known


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"type":"session_start"}', "session_id"),
        ('{"type":"session_start","session_id":1}', "session_id"),
        ('{"type":"session_start","session_id":"a","now":true}', "now"),
        ('{"type":"dance"}', "dance"),
        ("{}", "type"),
        ("[]", "object"),
    ],
)
def test_what_is_no_op_names_the_field(text: str, named: str) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        decode_op(text)
    assert caught.value.code is RpcCode.INVALID_ARGUMENT


@given(st.binary(max_size=30) | st.text(max_size=30).map(str.encode))
def test_any_bytes_are_an_op_or_a_usage_error(data: bytes) -> None:
    try:
        decode_op(data)
    except UsageError as error:
        try:
            msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            assert error.code in {RpcCode.PARSE, RpcCode.INVALID_ARGUMENT}
        else:
            assert error.code is RpcCode.INVALID_ARGUMENT


def declared(base: type[msgspec.Struct]) -> set[type[Any]]:
    """Find the tagged structs that the modules of the protocol declare over a base."""
    found = set[type[Any]]()
    for kind in base.__subclasses__():
        is_base = kind.__module__ == OpBase.__module__
        found |= declared(kind) if is_base else {kind}
    return {kind for kind in found if kind.__module__.startswith("agent.protocol.")}


def test_what_is_declared_is_on_the_wire_and_can_be_imported() -> None:
    assert declared(OpBase) == set(OPS)
    assert declared(EventBase) == set(MESSAGES)
    assert all(getattr(protocol, kind.__name__) is kind for kind in (*OPS, *MESSAGES))
