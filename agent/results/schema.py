"""Read an operator's JSON Schema and check results against it, with the `jsonschema` library.

A schema comes from a file or from over the wire, so it is hostile: it is bounded in size, depth and
in what its references unfold to; nothing is fetched; its patterns run under a time limit. The
dialects are drafts 4, 6, 7, 2019-09 and 2020-12 (https://json-schema.org/specification-links).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from agent.errors import UsageError
from agent.text import one_line

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_SCHEMA_BYTES = 32_768
MAX_DEPTH = 24
MAX_NODES = 2_000
"""Of a schema whose references are unfolded."""
MAX_RESULT_CHARS = 16_384
PATTERN_LIMIT_S = 1.0
"""What all patterns together may take over one result."""
MAX_PATTERN_CHARS = 500
PROBE_LIMIT_S = 1.0
"""What trying all patterns of a schema may take, before it is stored."""
_PROBE_CHARS = 64
_MAX_PLACE_CHARS = 100
_MOST_PROBES = 16
_DATA = frozenset({"const", "enum", "default", "examples"})  # Keywords whose values are no schemas.
_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords whose values are schemas by name."""
_REFUSED = ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor")
OUTPUT = "output schema"
_REMEDY = "Correct the schema, or ask for a simpler one."


class _Fault(Exception):
    """A schema cannot be used; the text follows the schema's name."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


class SchemaMismatchError(Exception):
    """A result does not fit its schema; the text names the place and says what is wrong."""


def read_schema(text: str, name: str = OUTPUT) -> dict[str, Any]:
    """Read and check a schema; returns it with its references unfolded.

    Args:
        name: what errors call it.

    Raises:
        UsageError: it is too large, no schema, or asks for what is not supported.
    """
    try:
        return _read(text)
    except _Fault as fault:
        raise UsageError(f"The {name} {fault}.", fault.remedy) from fault


def _read(text: str) -> dict[str, Any]:
    if len(text.encode("utf-8", "replace")) > MAX_SCHEMA_BYTES:
        raise _refused(f"is larger than {MAX_SCHEMA_BYTES:,} bytes")
    try:
        raw = json.loads(text)
    except RecursionError as error:
        raise _refused(f"is nested more than {MAX_DEPTH} levels deep") from error
    except ValueError as error:
        raise _refused(f"is not JSON ({one_line(str(error), 120)})") from error
    if not isinstance(raw, dict):
        raise _refused("is not a JSON object")
    unfolded = _Unfolding(raw).unfolded()
    _check_dialect(raw, unfolded)
    return unfolded


def checked_schema(text: str, name: str = OUTPUT) -> str:
    """Return a schema as it is stored, unfolded and compact; empty for none. Raises UsageError."""
    if not text:
        return ""
    return json.dumps(read_schema(text, name), ensure_ascii=False, separators=(",", ":"))


def check_result(schema: str, result: object) -> object:
    """Return a result that fits a stored schema: as it is, or without nulls for what is left out.

    Args:
        schema: as `checked_schema` gives it.
        result: what a model gave.

    Raises:
        Misfit: it does not fit, it is too large, or checking it takes too long.
    """
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise SchemaMismatchError("`result` contains a value that is not JSON") from error
    if len(text) > MAX_RESULT_CHARS:
        raise SchemaMismatchError(
            f"`result` has {len(text):,} characters; at most {MAX_RESULT_CHARS:,} fit"
        )
    wrong = _first_error(schema, result)
    if not wrong:
        return result
    # Endpoints that enforce schemas write null for what may be left out.
    pruned = _without_nulls(result)
    if pruned != result and not _first_error(schema, pruned):
        return pruned
    raise SchemaMismatchError(wrong)


def _first_error(schema: str, result: object) -> str:
    """Return where and why a result does not fit; empty when it does."""
    from jsonschema.exceptions import best_match

    try:
        # The deepest of what is wrong, so that the place is exact.
        error = best_match(_validator(schema).iter_errors(cast("Any", result)))
    except TimeoutError as slow:
        shown = one_line(str(slow), 80)
        return f"the pattern {shown!r} took longer than {PATTERN_LIMIT_S:g} s to check"
    except (RecursionError, ValueError, OverflowError, ArithmeticError) as failure:
        return f"it cannot be checked ({type(failure).__name__})"
    if error is None:
        return ""
    place = error.json_path.replace("$", "result", 1)
    return f"{place}: {one_line(error.message, 300)}"


def _validator(schema: str) -> Validator:
    import jsonschema
    from jsonschema import validators
    from referencing import Registry

    unfolded = json.loads(schema)
    base = validators.validator_for(unfolded, default=jsonschema.Draft202012Validator)
    patterns = _Patterns()
    extended: Any = validators.extend  # It has no types.
    bounded = extended(base, {"pattern": patterns.check, "patternProperties": patterns.check_names})
    # A registry of nothing: what is not in the schema is not to be had.
    return cast("Validator", bounded(unfolded, registry=Registry()))


class _Patterns:
    """The patterns of one check, which share one bound of time."""

    def __init__(self) -> None:
        self._left_s = PATTERN_LIMIT_S

    def check(
        self, _validator: Validator, pattern: str, instance: object, _schema: object
    ) -> Iterator[Any]:
        """Check a text; the keyword `pattern`."""
        from jsonschema.exceptions import ValidationError

        if isinstance(instance, str) and not self._finds(pattern, instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")

    def check_names(
        self, validator: Validator, patterns: Mapping[str, Any], instance: object, _schema: object
    ) -> Iterator[Any]:
        """Check the values under names that match; the keyword `patternProperties`."""
        if not isinstance(instance, dict):
            return
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if self._finds(pattern, name):
                    yield from validator.evolve(schema=subschema).iter_errors(value)

    def _finds(self, pattern: str, text: str) -> bool:
        """Search within what is left of the time. Raises TimeoutError, ValueError."""
        import regex

        began = time.monotonic()
        try:
            return regex.search(pattern, text, timeout=max(self._left_s, 0.001)) is not None
        except TimeoutError as error:
            raise TimeoutError(pattern) from error
        except regex.error as error:
            raise ValueError(str(error)) from error
        finally:
            self._left_s -= time.monotonic() - began


def _check_dialect(raw: Mapping[str, Any], unfolded: dict[str, Any]) -> None:
    """Check that the schema is one, in a dialect that is known. Raises UsageError."""
    import jsonschema
    from jsonschema import validators
    from jsonschema.exceptions import SchemaError, best_match

    named = raw.get("$schema")
    if named is not None and not isinstance(named, str):
        raise _refused("has a $schema that is not text")
    kind: Any = jsonschema.Draft202012Validator
    if named:
        kind = validators.validator_for({"$schema": named}, default=cast("Any", None))
        if kind is None:
            raise _refused(f"is of a dialect that is not known, {one_line(named, 120)!r}")
    try:
        error = best_match(kind(kind.META_SCHEMA).iter_errors(unfolded))
    except (SchemaError, RecursionError) as failure:
        raise _refused(f"cannot be checked ({type(failure).__name__})") from failure
    if error is not None:
        raise _refused(f"is not valid at {error.json_path}: {one_line(error.message, 200)}")
    probes_left_s = PROBE_LIMIT_S
    for place, pattern in dict.fromkeys(_patterns(unfolded, "$")):
        probes_left_s -= _check_pattern(place, pattern, probes_left_s)


def _patterns(node: object, place: str) -> Iterator[tuple[str, str]]:
    """Walk a schema's patterns, each with its place."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield f"{place}.pattern", node["pattern"]
        named = node.get("patternProperties")
        if isinstance(named, dict):
            yield from ((f"{place}.patternProperties", pattern) for pattern in named)
        for name, value in node.items():
            yield from _patterns(value, f"{place}.{name}")
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from _patterns(value, f"{place}[{at}]")


def _check_pattern(place: str, pattern: str, left_s: float) -> float:
    """Compile a pattern and try it on texts that make bad ones slow; returns the seconds taken.

    Such a pattern would not hang a check, which is bounded, but no result could pass it.
    """
    import regex

    if len(pattern) > MAX_PATTERN_CHARS:
        raise _refused(f"has a pattern of more than {MAX_PATTERN_CHARS} characters at {place}")
    shown = one_line(pattern, 80)
    began = time.monotonic()
    try:
        compiled = regex.compile(pattern)
        for text in _probes(pattern):
            compiled.search(text, timeout=max(left_s - (time.monotonic() - began), 0.001))
    except TimeoutError as error:
        raise _Fault(
            f"has a pattern at {place} that takes too long, {shown!r}",
            "Write it without repeats inside repeats, as ^a+$ instead of ^(a+)+$.",
        ) from error
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise _refused(
            f"has a pattern at {place} that cannot be used, {shown!r}: {error}"
        ) from error
    return time.monotonic() - began


def _probes(pattern: str) -> Iterator[str]:
    """Return texts that nearly match what is repeated in a pattern, and end otherwise."""
    letters = dict.fromkeys(("a", "0", " ", *(one for one in pattern if one.isalnum())))
    for letter in tuple(letters)[:_MOST_PROBES]:
        yield letter * _PROBE_CHARS + "\0"
    words = "".join(one for one in pattern if one.isalnum())[:8]
    yield words * (_PROBE_CHARS // max(len(words), 1)) + "\0"


class _Unfolding:
    """Put what local references name in their place, within bounds."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def unfolded(self) -> dict[str, Any]:
        made = self._unfold(self._root, "$", 0, ())
        if not isinstance(made, dict):
            raise _refused("is not a JSON object")
        return made

    def _unfold(
        self, node: object, place: str, depth: int, within: tuple[str, ...], *, is_map: bool = False
    ) -> Any:
        """Unfold one schema, a list of them, or a map of them by name."""
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise _refused(f"is nested more than {MAX_DEPTH} levels deep at {_short(place)}")
        if self._nodes > MAX_NODES:
            raise _refused(f"has more than {MAX_NODES:,} parts once its references are unfolded")
        if isinstance(node, list):
            return [
                self._unfold(one, f"{place}[{at}]", depth + 1, within)
                for at, one in enumerate(node)
            ]
        if not isinstance(node, dict):
            return node
        if is_map:
            return {
                name: self._unfold(one, f"{place}.{name}", depth + 1, within)
                for name, one in node.items()
            }
        for name in _REFUSED:
            if name in node:
                raise _refused(f"uses {name} at {_short(place)}, which is not supported")
        if depth and "$id" in node:
            raise _refused(f"has an $id at {_short(place)}, which is not supported inside")
        rest = {
            name: value
            if name in _DATA
            else self._unfold(value, f"{place}.{name}", depth + 1, within, is_map=name in _MAPS)
            for name, value in node.items()
            if name != "$ref" and (depth or name not in {"$defs", "definitions", "$id"})
        }
        target = node.get("$ref")
        if target is None:
            return rest
        if not isinstance(target, str):
            raise _refused(f"has a $ref that is not text at {_short(place)}")
        if target in within:
            itself = f"{one_line(target, 80)} at {_short(place)}"
            raise _refused(f"refers to itself, {itself}, which is not supported")
        found = self._unfold(self._resolved(target, place), place, depth + 1, (*within, target))
        # Beside a reference other keywords count as well (2019-09 and later).
        return {"allOf": [found], **rest} if rest else found

    def _resolved(self, target: str, place: str) -> object:
        """Find what a JSON Pointer into this schema names (RFC 6901)."""
        if not target.startswith("#"):
            there = f"{one_line(target, 120)} at {_short(place)}"
            raise _refused(f"refers to {there}: nothing is fetched, only #/… is supported")
        node: object = self._root
        for part in filter(None, target[1:].split("/")):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                raise _refused(
                    f"refers to {one_line(target, 80)} at {_short(place)}, which it does not have"
                )
        return node


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


def _short(place: str) -> str:
    """Return a place as one line, its end kept: that is where it is."""
    flat = one_line(place, 2000)
    return flat if len(flat) <= _MAX_PLACE_CHARS else f"…{flat[-_MAX_PLACE_CHARS:]}"


def _refused(what: str) -> _Fault:
    return _Fault(what, _REMEDY)
