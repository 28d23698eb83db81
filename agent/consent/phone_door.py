"""Pair phones, and carry out what a paired phone signed: the core's end.

Who may begin a pairing, `agent.consent.gate` judges; what a phone may say stands in
`agent.consent.phone_statements`. Invariants: a code pairs one phone, once and in time; a statement
is carried out once, however often it comes; an answer counts for what the phone showed.
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable

import msgspec

from agent.consent.bound_answer import Binding
from agent.consent.paired_phones import FRESH_MS, PairedPhone, PairedPhones
from agent.consent.phone_keys import is_public, signed_words, verifies
from agent.consent.phone_statements import GiveAnswer, Statement, op_of
from agent.core import ClientInfo, SharedCore
from agent.errors import NotAllowedError, UsageError, WrongStateError
from agent.protocol import Reply
from agent.records import Question, QuestionKind
from agent.safety.approval import is_for_session, is_no, is_yes, typed_instead

PAIRING_S = 300
LONGEST_PAIRING_S = 900
_MOST_OFFERS = 10
_WRONG_CODES = 5
_MOST_ACTS = 1000
_LONGEST_NAME = 40
_log = logging.getLogger(__name__)


class PairingOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What pairs one phone, once."""

    code: str
    until_ms: int

    def __repr__(self) -> str:
        """Return its time alone: a code is never written anywhere."""
        return f"PairingOffer(until_ms={self.until_ms})"


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """What a phone learns once it is paired."""

    phone_id: str
    name: str


class _Open(msgspec.Struct, kw_only=True):
    name: str
    operator: str
    until_ms: int
    public: bytes = b""
    """Of the phone that used it; its reply may have been lost."""
    paired: Paired | None = None


class _Act(msgspec.Struct, kw_only=True):
    digest: bytes
    at_ms: int
    task: asyncio.Task[Reply]


class PhoneDoor:
    """The paired phones of one core.

    Args:
        phones: those that are known.
        clock_ms: the time by which codes and statements end.
    """

    def __init__(self, phones: PairedPhones, clock_ms: Callable[[], int]) -> None:
        self.phones = phones
        self._clock_ms = clock_ms
        self._began_ms = clock_ms()
        self._offers: dict[str, _Open] = {}
        """By the hash of their code."""
        self._wrong = 0
        self._acts: dict[tuple[str, str], _Act] = {}
        """What was carried out, by phone and statement."""

    # --- pairing ----------

    def offer(self, name: str, operator: str, life_s: int) -> PairingOffer:
        """Begin a pairing, which a person asked for.

        Args:
            name: of the phone, for people and the audit.
            operator: who pairs it.
            life_s: how long the code counts.

        Raises:
            UsageError: the name or the time cannot be used, or too many are open.
        """
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME or name != name.strip():
            raise UsageError("A phone's name has 1 to 40 characters.", "Choose another: --name")
        if not 0 < life_s <= LONGEST_PAIRING_S:
            raise UsageError("A pairing is open for 15 minutes at most.", "Name another time.")
        now_ms = self._clock_ms()
        if any(one.name == name for one in self.phones.all()):
            raise UsageError(f"A phone {name!r} is paired.", "Choose another name, or revoke it.")
        self._offers = {key: one for key, one in self._offers.items() if now_ms < one.until_ms}
        if len(self._offers) >= _MOST_OFFERS:
            raise UsageError(f"{_MOST_OFFERS} pairings are open.", "Wait until one has ended.")
        code = secrets.token_urlsafe(18)
        until_ms = now_ms + life_s * 1000
        self._offers[_hashed(code)] = _Open(name=name, operator=operator, until_ms=until_ms)
        self._wrong = 0
        return PairingOffer(code=code, until_ms=until_ms)

    def accept(self, code: str, public: bytes, signature: bytes) -> Paired:
        """Pair the phone that shows a code; the same phone again gets the same reply.

        Args:
            code: as the picture shows it.
            public: the phone's key, P-256, uncompressed.
            signature: of the code, by that key.

        Raises:
            NotAllowedError: the code is wrong, used or over, or the key did not sign it.
            UsageError: too many are paired.
        """
        found = self._offers.get(_hashed(code))
        if found is None or found.until_ms <= self._clock_ms():
            self._wrong += 1
            if self._wrong >= _WRONG_CODES:
                self._offers.clear()
            raise NotAllowedError(
                "The code of this pairing has expired or is wrong.",
                "Begin again at the computer: switchboard pair",
            )
        if not is_public(public) or not verifies(public, signature, signed_words(code, "pair")):
            raise NotAllowedError("The phone's key did not sign the code.", "Reload the page.")
        if found.paired is not None and found.public != public:
            _log.warning("The code of a phone that is paired already was shown by another one.")
            raise NotAllowedError(
                "This code has paired another phone.",
                "If that was not yours, revoke it at the computer: switchboard pair list",
            )
        if found.paired is None:
            made = self.phones.add(found.name, public, found.operator, self._clock_ms())
            found.public, found.paired = public, Paired(phone_id=made.phone_id, name=made.name)
            _log.warning("A phone was paired: %s.", made.name)
        return found.paired

    # --- acting ----------

    async def act(
        self, core: SharedCore, phone_id: str, text: str, signature: bytes, *, operator: str
    ) -> Reply:
        """Carry out what a phone signed; the same statement again gets the same reply.

        Args:
            core: carries it out.
            phone_id: whose statement it is.
            text: as it was signed.
            signature: r and s, 32 bytes each.
            operator: who has signed in on the connection that brings it.

        Raises:
            NotAllowedError: it is not signed by a paired phone of this operator, or not now.
            UsageError: it is no statement that acts.
            WrongStateError: what it answers is closed or has changed.
            SwitchboardError: what it failed with.
        """
        now_ms = self._clock_ms()
        phone, said = self.phones.verified_statement(phone_id, text, signature, now_ms)
        if phone.operator != operator:
            raise NotAllowedError(
                "This phone was paired by another operator.", "Use the page that they serve."
            )
        if op_of(said) is None:
            raise UsageError("A core carries out answers, hints and stops only.")
        if said.at_ms < self._began_ms:
            # What was carried out before is not known any more.
            raise NotAllowedError(
                "The core was restarted since this was signed.",
                "Read what is asked now, and answer that.",
            )
        key, digest = (phone_id, said.id), hashlib.sha256(text.encode()).digest()
        known = self._acts.get(key)
        if known is not None:
            if known.digest != digest:
                raise NotAllowedError("Another statement had this id.", "Reload the page.")
            return await asyncio.shield(known.task)
        fresh = {k: one for k, one in self._acts.items() if now_ms < one.at_ms + FRESH_MS}
        if len(fresh) >= _MOST_ACTS:
            raise WrongStateError("A paired phone acts too often.", "Wait some minutes.")
        task = asyncio.create_task(self._carried_out(core, phone, said), name=phone.shown)
        # The phone may be gone before it hears: then nobody else takes what it failed with.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._acts = {**fresh, key: _Act(digest=digest, at_ms=said.at_ms, task=task)}
        return await asyncio.shield(task)

    async def _carried_out(self, core: SharedCore, phone: PairedPhone, said: Statement) -> Reply:
        op = op_of(said)
        assert op is not None
        if isinstance(said, GiveAnswer):
            open_now = (await core.overview()).questions
            asked = next((one for one in open_now if one.question_id == said.question_id), None)
            session = None if asked is None else await core.session(asked.session_id)
            binding = Binding(
                question_id=said.question_id, generation=said.generation, digest=said.digest
            )
            binding.check(asked, 0 if session is None else session.generation)
            if asked is not None:
                _check_answer(asked, said.answer)
        client = ClientInfo(f"phone-{phone.phone_id}", phone.shown, phone.operator)
        return await core.request_as(client, op)


def _check_answer(question: Question, answer: str) -> None:
    """Raise UsageError unless a phone may give an answer: a yes counts for what it showed."""
    if question.kind is not QuestionKind.APPROVAL and question.review is None:
        if not answer.strip():
            raise UsageError("The answer is empty.", "Write it, or stop the session.")
        return
    more = is_for_session(answer) or typed_instead(answer) is not None
    if more or not (is_yes(answer) or is_no(answer)):
        raise UsageError(
            "A paired phone approves this once, or rejects it.",
            "Answer Approve, or Deny with a reason: 'Deny: why'.",
        )


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).hexdigest()
