"""Carry out the ops on warrants: draft, correct, sign, revoke; and lend them to turns.

Invariants: a draft allows nothing; a warrant is signed as the operator saw it, without gaps, and
only where every clause may be covered here; who may sign, `agent.consent.gate` sees to.
"""

from collections.abc import Iterable, Sequence
from secrets import token_hex

from msgspec.structs import replace

from agent import protocol
from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.knowledge.app_names import known_name
from agent.knowledge.library import DIRECTORY, load
from agent.records import Clause, Session, Usage, Warrant, WarrantStatus, WarrantView
from agent.safety.warrants.borderline import corrected
from agent.safety.warrants.signing import signed
from agent.safety.warrants.words import check_clauses, checked_words, ending_of, gaps_of
from agent.sessions.registry.services import Services
from agent.store.store import EventDraft
from agent.warrants.proposing import proposed
from agent.warrants.warrant_store import WarrantStore

_DAY_MS = 24 * 60 * 60 * 1000
_TELLS_NOTHING = "Give a moment that lies ahead: --until 18:30."


class WarrantService:
    """The warrants of one core, for its ops.

    Args:
        parts: the core's; its data directory keeps the operator's key.
    """

    def __init__(self, parts: Services) -> None:
        self._parts = parts
        data_dir = parts.settings.data_dir
        self.store = WarrantStore(parts.store, data_dir, parts.clock_ms, self._gaps_of_draft)

    async def draft(self, op: protocol.WarrantDraft) -> WarrantView:
        """Draft a warrant.

        Raises:
            UsageError: words, clauses, expiry or scope cannot be used.
            ModelError, ConfigError: no model reads the words.
        """
        words, now_ms = checked_words(op.words), self._parts.clock_ms()
        session_id = ""
        if op.session_id:
            session_id = (await self._parts.store.session(op.session_id)).session_id
        clauses, by, usage = op.clauses, "", Usage()
        if not clauses:
            clauses, by, usage = await self._read(words, now_ms)
        check_clauses(clauses)
        self._check_two_people(clauses)
        warrant = Warrant(
            warrant_id=f"w-{token_hex(4)}",
            words=words,
            clauses=clauses,
            expires_ms=self._expiry(op.expires_ms, words, clauses, now_ms),
            session_id=session_id,
            proposed_by=by,
            made_ms=now_ms,
        )
        await self._change(warrant, "drafted", usage)
        return self.store.view(warrant.warrant_id)

    async def correct(self, op: protocol.WarrantCorrect) -> WarrantView:
        """Return a draft with the verdicts that the operator wants. Raises UsageError."""
        draft = self._draft(op.warrant_id)
        changed = corrected(draft, op.corrections, lambda clauses: self._gaps(draft, clauses))
        if changed.clauses != draft.clauses:
            await self._change(changed, "corrected")
        return self.store.view(draft.warrant_id)

    async def sign(self, op: protocol.WarrantSign, client: ClientInfo) -> WarrantView:
        """Sign a draft. Raises UsageError, WrongStateError, ConfigError."""
        draft, now_ms = self._draft(op.warrant_id), self._parts.clock_ms()
        if op.clauses != draft.clauses or op.expires_ms != draft.expires_ms:
            raise WrongStateError(
                f"The draft {draft.warrant_id} is not as you saw it.",
                f"Look again: switchboard warrants show {draft.warrant_id}",
            )
        check_clauses(draft.clauses)
        self._check_two_people(draft.clauses)
        for gap in self._gaps_of_draft(draft):
            raise UsageError(f"The warrant cannot be signed: {gap}", "Draft it again so.")
        if draft.expires_ms <= now_ms:
            raise UsageError("The warrant would be over already.", "Draft it again.")
        self._check_span(draft.expires_ms, now_ms)
        ready = replace(draft, signed_by=client.operator or "operator", signed_ms=now_ms)
        await self._change(signed(ready, self.store.key.read()), "signed")
        return self.store.view(draft.warrant_id)

    async def revoke(self, warrant_id: str) -> WarrantView:
        """Revoke a warrant or drop a draft. Raises UsageError, ConfigError."""
        found = self.store.view(warrant_id).warrant
        if found.status is not WarrantStatus.REVOKED:
            # Beside the key first: from here on it allows nothing, whatever the store keeps.
            self.store.marks.revoke(found.warrant_id)
            await self._change(replace(found, status=WarrantStatus.REVOKED), "revoked")
        return self.store.view(found.warrant_id)

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Follow the store."""
        self.store.on_commit(events)

    async def _read(self, words: str, now_ms: int) -> tuple[tuple[Clause, ...], str, Usage]:
        asker = Session(session_id="", goal="", created_ms=0, model=self._parts.settings.model.name)
        model = self._parts.models(asker)
        try:
            found = await proposed(model, words, now_ms)
            return found.clauses, model.name, found.usage
        finally:
            await model.close()

    def _expiry(self, given_ms: int, words: str, clauses: Sequence[Clause], now_ms: int) -> int:
        """Return when a warrant ends: no later than its words say. Raises UsageError."""
        ending = ending_of(words, now_ms, clauses)
        if given_ms and ending.is_said and given_ms > ending.at_ms:
            raise UsageError(
                "The warrant would end after the day or time that its words name.",
                "Give an earlier end, or write the later one into the words.",
            )
        expires_ms = given_ms or ending.at_ms
        if expires_ms <= now_ms:
            raise UsageError("The warrant would be over already.", _TELLS_NOTHING)
        if not ending.gaps:
            self._check_span(expires_ms, now_ms)
        return expires_ms

    def _check_span(self, expires_ms: int, now_ms: int) -> None:
        most = self._parts.settings.safety.warrant_most_days
        if expires_ms - now_ms > most * _DAY_MS:
            raise UsageError(
                f"The warrant would hold for more than {most} days.",
                "Give an earlier end, or raise safety.warrant_most_days.",
            )

    def _check_two_people(self, clauses: Sequence[Clause]) -> None:
        for clause in clauses:
            if clause.verb in self._parts.settings.safety.two_people:
                raise UsageError(
                    f"Two operators must approve each action that would {clause.verb} here.",
                    "Leave the clause out.",
                )

    def _draft(self, warrant_id: str) -> Warrant:
        found = self.store.view(warrant_id).warrant
        if found.status is not WarrantStatus.DRAFT:
            raise WrongStateError(
                f"The warrant {found.warrant_id} is {found.status.value}.",
                "What is signed is not changed: revoke it, and draft another.",
            )
        return found

    def _gaps_of_draft(self, draft: Warrant) -> tuple[str, ...]:
        return self._gaps(draft, draft.clauses)

    def _gaps(self, draft: Warrant, clauses: Sequence[Clause]) -> tuple[str, ...]:
        # As on the day when it was written: "today" stays that day.
        return gaps_of(draft.words, clauses, draft.made_ms, knows_app=self._knows_app)

    def _knows_app(self, name: str) -> bool:
        """Return whether a name is one that `known_name` gives to some app."""
        library = load(self._parts.settings.config_file.parent / DIRECTORY)
        packages = library.called(name)
        return any(known_name(one, library).casefold() == name.casefold() for one in packages)

    async def _change(self, warrant: Warrant, reason: str, usage: Usage | None = None) -> None:
        changed = protocol.WarrantChanged(warrant=warrant, reason=reason, usage=usage or Usage())
        self.on_commit(await self._parts.store.append(EventDraft("", changed)))
