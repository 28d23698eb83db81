"""Each op has exactly one method that carries it out, found by its annotation."""

from typing import get_args

import pytest

from agent.core import OWNER
from agent.protocol import Op, Reply, SessionPause, SessionTag
from agent.runtime.handlers.table import handles, reply_to, table_of
from agent.runtime.op_queue import Submission


class Everything:
    """Carries out whatever op there is."""

    @handles
    async def carry_out(self, op: Op, sub: Submission) -> Reply:
        """Answer."""
        return reply_to(sub, type(op).__name__)


class Pauses:
    """Carries out one op, which `Everything` does too."""

    @handles
    async def pause(self, op: SessionPause, sub: Submission) -> Reply:
        """Answer."""
        return reply_to(sub)


class Unmarked:
    """Has a method of the right shape that nobody marked."""

    async def pause(self, op: SessionPause, sub: Submission) -> Reply:
        return reply_to(sub)


async def test_the_annotation_of_a_method_says_which_ops_it_carries_out() -> None:
    table = table_of([Everything(), Unmarked()])
    assert set(table) == set(get_args(Op))
    op = SessionTag(session_id="s")
    reply = await table[SessionTag](op, Submission(op, OWNER, answered=False))
    assert reply.session_id == "SessionTag"


def test_an_op_with_two_methods_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="SessionPause has two handlers"):
        table_of([Everything(), Pauses()])


def test_an_op_without_a_method_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="SessionTag"):
        table_of([Pauses()])
