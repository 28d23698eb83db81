"""A look-up is declared once and answered by one method, wherever it is asked."""

import typing

import pytest

from agent.errors import WrongStateError
from agent.protocol import LOOK_UPS, AnyLookUp, FindSession, ListSessions, answer_type
from agent.records import Session
from agent.rpc.connection import METHODS
from agent.runtime.handlers.answers import answerers_in, answers, check_complete
from agent.runtime.queries import StoredLookUps
from console.cli_support.protocol_page import METHOD_REPLIES
from console.http_api.openapi import document


class Finds:
    @answers
    async def session(self, query: FindSession) -> Session:
        raise NotImplementedError


class FindsToo:
    @answers
    async def again(self, query: FindSession) -> Session:
        raise NotImplementedError


class ListsWrongly:
    """Returns another type than is declared."""

    @answers  # type: ignore[arg-type]
    async def sessions(self, query: ListSessions) -> Session:
        raise NotImplementedError


def test_every_look_up_is_a_method_of_the_socket_and_a_path_over_http() -> None:
    assert set(LOOK_UPS.values()) == set(typing.get_args(AnyLookUp))
    paths = document()["paths"]
    for name, kind in LOOK_UPS.items():
        assert METHODS[name] is kind
        assert METHOD_REPLIES[name] == kind.returns
        assert "get" in paths[f"/v1/{name}"]


def test_the_answer_of_a_look_up_is_what_it_was_declared_with() -> None:
    assert answer_type(FindSession) is Session
    assert answer_type(ListSessions) == tuple[Session, ...]


def test_a_look_up_with_two_methods_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="FindSession has two methods; again is one"):
        answerers_in([Finds(), FindsToo()])


def test_a_method_that_returns_another_type_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="sessions returns another type than ListSessions"):
        answerers_in([ListsWrongly()])


def test_a_core_with_a_look_up_that_nobody_answers_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="ListSessions"):
        check_complete(answerers_in([Finds()]))


async def test_a_store_without_a_core_says_that_only_a_core_can_answer() -> None:
    records = StoredLookUps(None)  # type: ignore[arg-type]
    records._answerers.clear()
    with pytest.raises(WrongStateError, match="Only a running core can answer session"):
        await records.session("s")
