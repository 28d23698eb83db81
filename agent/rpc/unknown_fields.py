"""Find what a client wrote into an op that no field of it takes.

An op itself refuses such a name; the records in it do not, because a store may hold those of a
newer Switchboard. Invariant: a misspelt limit is refused, never passed over.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.text import one_line


def unknown_fields(kind: type[Any], written: Any) -> tuple[str, ...]:
    """Return the places of what is unknown, as `$.budget.tokns`, in order.

    Args:
        kind: the type of the op.
        written: what it was read from, as JSON's own values.
    """
    return tuple(_walk(msgspec.inspect.type_info(kind), written, "$"))


def unknown_in(places: Sequence[str]) -> UsageError:
    """Return the refusal of an op with such fields."""
    shown = ", ".join(one_line(place, 80) for place in places[:5])
    return UsageError(
        f"The op has unknown fields: {shown}.", "Correct their names, or leave them out."
    )


def _walk(kind: msgspec.inspect.Type, written: Any, place: str) -> list[str]:
    if isinstance(kind, msgspec.inspect.Metadata):
        return _walk(kind.type, written, place)
    if isinstance(kind, msgspec.inspect.UnionType):
        return _walk(_chosen(kind, written), written, place)
    if isinstance(kind, msgspec.inspect.StructType) and isinstance(written, Mapping):
        fields = _fields(kind.cls)
        found: list[str] = []
        for name, value in written.items():
            if name in fields:
                found += _walk(fields[name], value, f"{place}.{name}")
            elif name != kind.tag_field:
                found.append(f"{place}.{name}")
        return found
    if isinstance(kind, msgspec.inspect.DictType) and isinstance(written, Mapping):
        items = written.items()
        return [
            one for key, value in items for one in _walk(kind.value_type, value, f"{place}.{key}")
        ]
    inner = getattr(kind, "item_type", None)
    if inner is not None and isinstance(written, list):
        return [
            one for at, value in enumerate(written) for one in _walk(inner, value, f"{place}[{at}]")
        ]
    return []


def _chosen(kind: msgspec.inspect.UnionType, written: Any) -> msgspec.inspect.Type:
    """Return the member of a union that a value was read as."""
    structs = [one for one in kind.types if isinstance(one, msgspec.inspect.StructType)]
    if isinstance(written, Mapping):
        tagged = [one for one in structs if one.tag_field and written.get(one.tag_field) == one.tag]
        if tagged or structs:
            return (tagged or structs)[0]
    lists = [one for one in kind.types if hasattr(one, "item_type")]
    return lists[0] if lists and isinstance(written, list) else msgspec.inspect.AnyType()


@cache
def _fields(cls: type[Any]) -> Mapping[str, msgspec.inspect.Type]:
    info = msgspec.inspect.type_info(cls)
    assert isinstance(info, msgspec.inspect.StructType)
    return {field.encode_name: field.type for field in info.fields}
