"""The programs that make the calls of sessions themselves, and which session is whose.

Not a tool server: `console/commands/mcp` and others are clients of these ops. Invariants: a direct
session takes calls from the client that created it and from no other; it ends with that client;
nothing of this outlives the core.
"""

from collections.abc import Callable

from agent.direct.exchange import DirectModel, Exchange
from agent.models.model import Model
from agent.models.verifying import Verifying
from agent.records import DIRECT, Session


class Programs:
    """The exchanges of one core, by session."""

    def __init__(self) -> None:
        self._exchanges: dict[str, Exchange] = {}

    def admit(self, session_id: str, client_id: str, program: str) -> None:
        """Take the calls of a new session from a client.

        Args:
            program: its name, for people.
        """
        self._exchanges[session_id] = Exchange(client_id, program)

    def of(self, session_id: str) -> Exchange | None:
        """Return the exchange of a session; None where no connected program makes its calls."""
        return self._exchanges.get(session_id)

    def forget(self, session_id: str) -> None:
        """Take no more calls for a session."""
        exchange = self._exchanges.pop(session_id, None)
        if exchange is not None:
            exchange.leave()

    def made_by(self, client_id: str) -> tuple[str, ...]:
        """Return the sessions whose calls a client makes."""
        return tuple(key for key, one in self._exchanges.items() if one.client_id == client_id)

    def models(
        self, otherwise: Callable[[Session], Model], *, sees: bool
    ) -> Callable[[Session], Model]:
        """Return what makes the model of any session, of a direct one too."""

        def model(session: Session) -> Model:
            if not session.model.startswith(DIRECT):
                return otherwise(session)
            return DirectModel(session.model, self.of(session.session_id), sees=sees)

        return model


def verifiers_of(
    otherwise: Callable[[Model, Session], Verifying],
) -> Callable[[Model, Session], Verifying]:
    """Return what says who checks a claim of success.

    A program does not check its own claims; a model that `model.verifier` names does.
    """

    def verifying(model: Model, session: Session) -> Verifying:
        found = otherwise(model, session)
        if isinstance(model, DirectModel) and found.is_same:
            return Verifying()
        return found

    return verifying
