"""Errors as HTTP says them: a status, and problem details (RFC 9457) with what to do."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from agent.errors import NotAllowedError, RpcCode, RuntimeDiedError, SwitchboardError
from agent.rpc.rpc_messages import problem_of

MEDIA_TYPE = "application/problem+json"
STATUS_OF: Mapping[RpcCode, HTTPStatus] = {
    RpcCode.PARSE: HTTPStatus.BAD_REQUEST,
    RpcCode.UNKNOWN_METHOD: HTTPStatus.NOT_FOUND,
    RpcCode.INVALID_ARGUMENT: HTTPStatus.UNPROCESSABLE_ENTITY,
    RpcCode.WRONG_STATE: HTTPStatus.CONFLICT,
    RpcCode.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""By the codes of the socket."""


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong, after RFC 9457."""

    title: str  # The status in words.
    status: int
    detail: str  # What failed, on what.
    remedy: str = ""  # What to do about it.
    code: int = 0  # That of the socket's protocol, where the core refused.


def refusal(status: HTTPStatus, detail: str, remedy: str = "") -> ProblemDetails:
    """Return what is said of a request that did not reach the core."""
    return ProblemDetails(title=status.phrase, status=status, detail=detail, remedy=remedy)


def details_of(error: SwitchboardError) -> ProblemDetails:
    """Return what is said of an error of the core."""
    problem = problem_of(error)
    gone = isinstance(error, RuntimeDiedError)
    status = HTTPStatus.SERVICE_UNAVAILABLE if gone else STATUS_OF[error.code]
    if isinstance(error, NotAllowedError):
        status = HTTPStatus.FORBIDDEN
    return ProblemDetails(
        title=status.phrase,
        status=status,
        detail=problem.message,
        remedy=error.remedy,
        code=problem.code,
    )
