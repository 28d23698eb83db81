"""Which notices are shown, by tokens: the presentation, pure (CONTRACTS 1.13).

It posts nothing: it says what is to be posted, withdrawn and acknowledged. Invariants: a session
has at most one notice; a token that is retired never shows anything again; every new token is
acknowledged, whether it shows something or not.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from agent.errors import UsageError, WrongStateError
from agent.notices.wording import kind_of, notice_for
from agent.protocol import WithdrawReason
from agent.records import Notice, Question, Session, SessionKind

RETIRED_LIMIT = 10_000
"""How many retired tokens are remembered; an older one cannot be told from a new one."""


class Post(msgspec.Struct, frozen=True):
    """Show this, in the place of the session's earlier one."""

    notice: Notice


class Withdraw(msgspec.Struct, frozen=True):
    """Show this no more."""

    notice: Notice
    reason: WithdrawReason


class Ack(msgspec.Struct, frozen=True):
    """Tell whoever issued the token that it arrived."""

    session_id: str
    token: str


Act: TypeAlias = Post | Withdraw | Ack


class Shade:
    """The notices that are shown, and the tokens that are done with."""

    def __init__(self) -> None:
        self._shown: dict[str, Notice] = {}
        self._retired: OrderedDict[str, None] = OrderedDict()

    @property
    def shown(self) -> tuple[Notice, ...]:
        """The notices that are shown, oldest first."""
        return tuple(self._shown.values())

    def take_over(self, notices: Iterable[Notice]) -> None:
        """Show what a core that ended had shown, under the tokens it has."""
        for notice in notices:
            self._shown.setdefault(notice.session_id, notice)

    def find(self, session_id: str) -> Notice | None:
        return self._shown.get(session_id)

    def update(
        self,
        session: Session,
        token: str,
        *,
        parent: Session | None = None,
        question: Question | None = None,
        now_ms: int = 0,
    ) -> tuple[Act, ...]:
        """Take in where a session stands, under a token.

        Args:
            session: as it is.
            token: issued for this update.
            parent: the session that it is a child of.
            question: what it, or a child of it, asks.
            now_ms: the time.

        Raises:
            UsageError: the token is blank.
        """
        if not token.strip():
            raise UsageError("A notice has no token.", "Give each a token of its own.")
        if token in self._retired:
            return ()
        acknowledged = Ack(session.session_id, token)
        before = self._shown.get(session.session_id)
        if before is not None and before.token == token:
            return (acknowledged,)
        if kind_of(session.state) is None or _speaks_for_itself(parent):
            self._retire(token)
            return (*self.remove(session.session_id), acknowledged)
        gone: tuple[Act, ...] = ()
        if before is not None:
            self._retire(before.token)
            gone = (Withdraw(before, WithdrawReason.REPLACED),)
        # Taken out first, so that the newest is the last.
        self._shown.pop(session.session_id, None)
        notice = notice_for(session, token, question, now_ms)
        self._shown[session.session_id] = notice
        return (*gone, Post(notice), acknowledged)

    def show(self, notice: Notice) -> tuple[Act, ...]:
        """Show a notice that was written already, in the place of an earlier one of the same."""
        gone = self.remove(notice.session_id)
        self._shown[notice.session_id] = notice
        return (*gone, Post(notice))

    def cancel(self, session_id: str, token: str) -> tuple[Act, ...]:
        """Take a notice away by its token; a stale one changes nothing."""
        self._retire(token)
        shown = self._shown.get(session_id)
        return self.remove(session_id) if shown is not None and shown.token == token else ()

    def suppress(self, session_id: str, token: str) -> Withdraw:
        """Take a notice away because it is being answered; before the answer counts.

        Raises:
            WrongStateError: it is not shown any more.
        """
        shown = self._shown.get(session_id)
        if shown is None or shown.token != token:
            raise WrongStateError(
                f"The notice of session {session_id} is not shown any more.",
                "Answer the session itself; the first answer counts.",
            )
        del self._shown[session_id]
        self._retire(token)
        return Withdraw(shown, WithdrawReason.SUPPRESSED)

    def remove(self, session_id: str) -> tuple[Act, ...]:
        """Take the notice of a session away, whatever its token; nothing when it has none."""
        shown = self._shown.pop(session_id, None)
        if shown is None:
            return ()
        self._retire(shown.token)
        return (Withdraw(shown, WithdrawReason.REMOVED),)

    def _retire(self, token: str) -> None:
        self._retired[token] = None
        self._retired.move_to_end(token)
        while len(self._retired) > RETIRED_LIMIT:
            self._retired.popitem(last=False)


def _speaks_for_itself(parent: Session | None) -> bool:
    """Return whether a parent tells the operator what its children have to say (CONTRACTS A9)."""
    return parent is not None and parent.kind is SessionKind.AGENT
