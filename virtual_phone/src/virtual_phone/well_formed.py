"""Text that is whole Unicode, and JSON of it.

Words of a shell and names of files carry bytes that are no UTF-8 as lone surrogates (PEP 383), so
that they come out as they went in. Java programs, and all that a phone keeps, are text. Not a
filter of controls. Invariant: what comes out of here can be encoded as UTF-8.
"""

import re

import msgspec

REPLACEMENT = "\ufffd"
_LONE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Return text with U+FFFD in place of each lone surrogate, as Java decodes bad bytes."""
    return text if text.isascii() else _LONE.sub(REPLACEMENT, text)


def json_of(value: object) -> bytes:
    """Return JSON of a value that msgspec knows, whatever its strings hold."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(well_formed_value(value))


def well_formed_value(value: object) -> object:
    """Return a value as plain JSON values in which every string is well formed."""
    return _repaired(msgspec.to_builtins(value, enc_hook=_plain))


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    raise NotImplementedError(f"{type(value).__name__} is not a JSON value")


def _repaired(value: object) -> object:
    match value:
        case str():
            return well_formed(value)
        case list() | tuple():
            return [_repaired(one) for one in value]
        case dict():
            return {_repaired(key): _repaired(one) for key, one in value.items()}
        case _:
            return value
