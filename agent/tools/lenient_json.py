"""Read JSON that a model wrote with a slip: what can be meant in one way only is read so.

Pure. Mended are trailing commas, missing closing brackets, Python's literals and quotes,
typographic quotes, line breaks inside a text, an object inside a string, an object that was sent
twice, and brackets too many.
Invariant: a text that was cut in its middle is never completed, for half of what was to be typed
would be typed (that is why no repair library is used: they close open strings).
"""

import ast
import json
from collections.abc import Iterator

MAX_CHARS = 100_000
_NEAR_CHARS = 24
_AFTER = " \t\r\n;}])`"  # What may stand behind a value and means nothing.
_CLOSERS = {"{": "}", "[": "]"}
_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"'})
_DECODER = json.JSONDecoder(strict=False)


class NotJson(ValueError):
    """The text is not JSON, whatever is mended; says where."""


def read_json(text: str) -> object:
    """Return the value of a text.

    Raises:
        NotJson: it cannot be read; the words name the place.
    """
    if len(text) > MAX_CHARS:
        raise NotJson(f"they have {len(text):,} characters, too many to read")
    found = _first(text)
    if isinstance(found, str) and found.lstrip().startswith("{"):
        # Arguments that were encoded twice.
        return _first(found)
    return found


def _first(text: str) -> object:
    wrong: Exception | None = None
    for candidate in _candidates(text):
        try:
            return _loaded(candidate)
        except (ValueError, RecursionError, MemoryError) as error:
            wrong = wrong or error
    try:
        value = ast.literal_eval(text.strip())
        # Sets, bytes and complex numbers are no JSON.
        return json.loads(json.dumps(value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        pass
    raise NotJson(_place(text, wrong)) from wrong


def _loaded(text: str) -> object:
    start = len(text) - len(text.lstrip())
    value, end = _DECODER.raw_decode(text, start)
    rest = text[end:].lstrip()
    while rest.startswith(("{", "[")):
        # Some gateways send what they streamed once more as a whole.
        again, stop = _DECODER.raw_decode(rest)
        if again != value:
            break
        rest = rest[stop:].lstrip()
    if rest.strip(_AFTER):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _candidates(text: str) -> Iterator[str]:
    yield text
    mended = _repaired(text)
    if mended is not None:
        yield mended
    if any(quote in text for quote in "“”„‟"):
        plain = text.translate(_TYPOGRAPHIC)
        yield plain
        mended = _repaired(plain)
        if mended is not None:
            yield mended


def _repaired(text: str) -> str | None:
    """Drop commas before a closing bracket and close what is open; None inside an open text."""
    written: list[str] = []
    expected: list[str] = []
    in_text = escaped = False
    for at, char in enumerate(text):
        if in_text:
            in_text = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_text = True
        elif char in _CLOSERS:
            expected.append(_CLOSERS[char])
        elif char in "}]":
            while expected and expected[-1] != char:
                # A bracket inside was forgotten.
                written.append(expected.pop())
            if not expected:
                return None
            expected.pop()
            _drop_comma(written)
            if not expected:
                written.append(char)
                return None if text[at + 1 :].strip(_AFTER) else "".join(written)
        written.append(char)
    if in_text:
        return None
    if expected:
        _drop_comma(written)
    return "".join([*written, *reversed(expected)])


def _drop_comma(written: list[str]) -> None:
    at = len(written) - 1
    while at >= 0 and written[at].isspace():
        at -= 1
    if at >= 0 and written[at] == ",":
        del written[at]


def _place(text: str, error: Exception | None) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "they are nested too deeply"
    if error.msg.startswith("Unterminated string"):
        tail = text[-_NEAR_CHARS:]
        return f"they break off inside a text, after `{tail}`"
    near = text[max(error.pos - _NEAR_CHARS, 0) : error.pos]
    wrong = text[error.pos : error.pos + 1]
    said = f"`{wrong}`" if wrong.strip() else "the end" if error.pos >= len(text) else "a space"
    after = f" after `{near}`" if near else ""
    return f"{error.msg}, but there is {said} at character {error.pos + 1}{after}"
