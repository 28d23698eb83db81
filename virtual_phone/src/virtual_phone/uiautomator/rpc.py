"""JSON-RPC 2.0: from the bytes of a request to a method of the phone and back.

Methods are overloaded as in the Java interface they answer for: by the number and the types of
their parameters. Not the methods themselves. Invariant: whatever the bytes are, the answer is JSON,
and no request makes more than one bounded batch of calls.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import get_type_hints

import msgspec

from virtual_phone.errors import PhoneError
from virtual_phone.well_formed import json_of

BATCH_LIMIT = 64
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
METHOD_NOT_FOUND, INVALID_PARAMETERS, FAILED, NOT_FOUND = -32601, -32602, -32001, -32002

_log = logging.getLogger(__name__)

Handler = Callable[..., Awaitable[object]]


class RpcError(PhoneError):
    """A call failed; the message names the Java exception that the client looks for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = code


class ObjectNotFoundError(RpcError):
    """No node of the screen is what a selector describes."""

    def __init__(self, what: str) -> None:
        super().__init__(NOT_FOUND, f"androidx.test.uiautomator.UiObjectNotFoundException: {what}")


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a method."""

    run: Handler
    parameters: tuple[object, ...]


class MethodTable:
    """Methods by name, each with its overloads."""

    def __init__(self) -> None:
        self._methods: dict[str, list[Overload]] = {}

    def add(self, name: str, *handlers: Handler) -> None:
        """Add handlers under a name; their annotations say what they take."""
        for handler in handlers:
            hints = get_type_hints(handler)
            names = inspect.signature(handler).parameters
            overload = Overload(handler, tuple(hints[one] for one in names))
            self._methods.setdefault(name, []).append(overload)

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._methods)

    def shapes(self, name: str) -> list[tuple[object, ...]]:
        """Return the types that each overload of a method takes; none for an unknown one."""
        return [overload.parameters for overload in self._methods.get(name, ())]

    async def call(self, name: str, arguments: list[object]) -> object:
        """Call the first overload that takes the arguments.

        Raises:
            RpcError: there is no such method, or it does not take these, or it failed.
        """
        if name not in self._methods:
            raise RpcError(METHOD_NOT_FOUND, "method not found")
        for overload in self._methods[name]:
            if len(overload.parameters) != len(arguments):
                continue
            try:
                values = [
                    msgspec.convert(value, kind)
                    for value, kind in zip(arguments, overload.parameters, strict=True)
                ]
            except (msgspec.ValidationError, RecursionError):
                continue
            return await overload.run(*values)
        raise RpcError(INVALID_PARAMETERS, "method parameters invalid")


async def answer(table: MethodTable, body: bytes) -> bytes:
    """Answer a request or a batch of them; b"" where nothing is to be said."""
    try:
        request = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _encode(_error(None, PARSE_ERROR, "JSON parse error"))
    if not isinstance(request, list):
        one = await _answer_one(table, request)
        return b"" if one is None else _encode(one)
    if not 0 < len(request) <= BATCH_LIMIT:
        return _encode(_error(None, INVALID_REQUEST, "Invalid Request"))
    answers = [await _answer_one(table, one) for one in request]
    said = [one for one in answers if one is not None]
    return _encode(said) if said else b""


def _encode(value: object) -> bytes:
    return json_of(value)


async def _answer_one(table: MethodTable, request: object) -> dict[str, object] | None:
    if not isinstance(request, dict):
        return _error(None, INVALID_REQUEST, "Invalid Request")
    number = request.get("id")
    if not isinstance(number, int | float | str | None):
        return _error(None, INVALID_REQUEST, "Invalid Request")
    name, given = request.get("method"), request.get("params")
    if not isinstance(name, str):
        return _error(number, INVALID_REQUEST, "Invalid Request")
    try:
        # Parameters by name are never used by the library but for "none", which it sends as {}.
        if given in (None, {}):
            given = []
        if not isinstance(given, list):
            raise RpcError(INVALID_PARAMETERS, "method parameters invalid")
        result = await table.call(name, given)
    except RpcError as error:
        return _error(number, error.rpc_code, error.message) if "id" in request else None
    except PhoneError as error:
        message = f"java.lang.IllegalStateException: {error.message}"
        return _error(number, FAILED, message) if "id" in request else None
    except Exception as error:
        _log.exception("the method %s failed", name)
        message = f"java.lang.RuntimeException: {type(error).__name__}"
        return _error(number, FAILED, message) if "id" in request else None
    return {"jsonrpc": "2.0", "id": number, "result": result} if "id" in request else None


def _error(number: object, code: int, message: str) -> dict[str, object]:
    error = {"code": code, "message": message, "data": f"{message}\n\tat com.wetest.uia2"}
    return {"jsonrpc": "2.0", "id": number, "error": error}
