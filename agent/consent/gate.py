"""Admit the ops of one client: what allows more comes from a person, or by a token.

`agent.consent.judge` judges the client; an op says by `allows` what it may do
(`agent.protocol.base`). Invariants: an op that allows more and comes from neither is refused before
anything of it is done; words that a person did not write are never stored as the operator's.
"""

import os
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from agent.consent.judge import PERSON, ClientKind, Consent, Verdict
from agent.consent.phone_door import PhoneDoor
from agent.consent.processes import Process, ancestry
from agent.consent.script_tokens import ScriptToken
from agent.core import Core
from agent.errors import LockedError, NotAllowedError, SwitchboardError
from agent.operators.scope import needs_of
from agent.protocol import (
    DirectCall,
    EditRequirements,
    NoticeReply,
    Op,
    SessionAttach,
    SessionCreate,
    UserInput,
    UserInputAnswer,
)
from agent.records import Allows, Autonomy, Question, Right, Session, Speaker
from agent.safety.approval import is_no


class Proved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a client has shown; to one that shows nothing, what it could."""

    has_passphrase: bool = False  # Whether one was chosen.
    token: str = ""  # The name of the token that was shown.


class Gate:
    """The gate of one client.

    Args:
        consent: what the core knows of persons and programs.
        chain: the client's process and its ancestors, as it connected; empty: not known.
        default_autonomy: a session's, where the op does not set it.
        name: of the client, for people.
        is_far: whether it is on another computer, whose processes nobody here sees.
        phones: the core's end of paired phones.
    """

    def __init__(
        self,
        consent: Consent,
        chain: Sequence[Process],
        default_autonomy: Autonomy,
        *,
        name: str = "a program",
        is_far: bool = False,
        phones: PhoneDoor,
    ) -> None:
        self.phones = phones
        self._consent = consent
        self._chain = tuple(chain)
        self._default_autonomy = default_autonomy
        self._is_far = is_far
        self._others = ""
        """Why no person is behind the client itself, as a clause; empty: one may be."""
        self._is_program = False
        self._is_proved = False
        """Whether the passphrase was given by a client that has no terminal."""
        self._token: ScriptToken | None = None
        self._secret = ""
        self.name = name

    @property
    def token_name(self) -> str:
        """Return the name of the token that was shown; empty without one."""
        return "" if self._token is None else self._token.name

    def speaks_for(self, whom: str) -> None:
        """Take a client at its word that it speaks for others: `model`, or `programs`."""
        if whom:
            self._others = "it came through a server, which cannot see who asked"
        if whom == "model":
            self._note_program()

    def signed_in_by_token(self) -> None:
        """Note that an operator's token let the client in, which is a program's."""
        if self._is_far:
            self._others = "it signed in by a token, as programs do"

    def prove(self, passphrase: str = "", *, chooses: bool = False, token: str = "") -> Proved:
        """Take what a client shows. Raises NotAllowedError, UsageError, ConfigError."""
        if token:
            found = self._consent.tokens.find(token, self._consent.clock_ms())
            if found is None:
                raise NotAllowedError(
                    "The token is unknown, revoked or over.",
                    "Create another: switchboard tokens create",
                )
            self._token, self._secret = found, token
        if passphrase:
            if self._others or self._is_far:
                raise NotAllowedError(
                    "A passphrase unlocks the terminal that it is typed at, on the core's computer."
                )
            if not self._consent.unlock(self._chain, passphrase, chooses=chooses):
                self._is_proved = True
        return Proved(has_passphrase=self._consent.passphrase.is_set, token=self.token_name)

    def check_person(self, what: str) -> None:
        """Raise NotAllowedError unless a person is at the client.

        Args:
            what: is asked, for people, as "Pairing a phone".
        """
        verdict = self._judge(for_program=False)
        if verdict.kind is not ClientKind.PERSON:
            raise _refused(what, verdict, "")

    async def admitted(self, op: Op, core: Core) -> Op:
        """Return an op as it may be carried out.

        Raises:
            NotAllowedError: it allows more, and no person gives it.
        """
        if _is_of_program(op):
            self._note_program()
        question = await _question_of(op, core)
        allows = self._allows(op, question)
        if allows is Allows.NOTHING:
            return op
        by_program = await self._is_programs(op, question, core)
        verdict = self._judge(for_program=by_program)
        if verdict.kind is ClientKind.PERSON:
            return op
        # A token's file may be read by any program of this user: an agent's never uses one.
        is_program = verdict.kind is ClientKind.PROGRAM
        by_token = not (is_program or op.persons_only)
        if by_token and self._is_by_token(question, op, spends=allows is Allows.MORE):
            return op
        if allows is Allows.MORE:
            trouble = "" if is_program else self._token_trouble(question, op)
            raise _refused(_named(op), verdict, trouble)
        return self._as_a_programs(op, verdict)

    # --- who asks ----------

    def _note_program(self) -> None:
        if not self._is_program and not self._is_far:
            self._is_program = True
            self._consent.programs.note(self._chain, self.name)

    def _judge(self, *, for_program: bool) -> Verdict:
        if self._is_program:
            return Verdict(
                ClientKind.PROGRAM,
                "it comes from a program that works for an agent",
                "Only a person may, at a console or a terminal of their own.",
            )
        if self._others:
            return Verdict(
                ClientKind.UNKNOWN,
                self._others,
                "Answer at a console; a script needs a token: switchboard tokens create",
            )
        if self._is_far:
            # Who signs in from there is known by key or account, and no process is seen.
            return PERSON
        verdict = self._consent.judge(self._chain, for_program=for_program)
        return PERSON if self._is_proved and verdict.can_unlock else verdict

    async def _is_programs(self, op: Op, question: Question | None, core: Core) -> bool:
        """Return whether a program began the session that an op is about."""
        session_id = question.session_id if question else getattr(op, "session_id", "")
        try:
            session = await core.session(session_id) if session_id else None
            while session is not None and session.parent_id:
                session = await core.session(session.parent_id)
        except SwitchboardError:
            return False  # The core says so itself.
        return session is not None and _is_begun_by_program(session)

    # --- what it asks ----------

    def _allows(self, op: Op, question: Question | None) -> Allows:
        match op:
            case UserInputAnswer(expired=True):
                return Allows.NOTHING
            case UserInputAnswer() | NoticeReply():
                if question is None:
                    # What is not found here may be found by the core, by a part of its name.
                    return Allows.NOTHING if _is_no(_answers_of(op)) else Allows.MORE
                if _refuses(question, _answers_of(op)):
                    return Allows.NOTHING
                if isinstance(op, NoticeReply) or op.let_through or question.asks_leave:
                    return Allows.MORE
                return Allows.WORDS
            case EditRequirements(add=(), withdraw=()) | SessionAttach(drive=False):
                return Allows.NOTHING
            case _ if any(getattr(op, name) for name in op.allows_more_by):
                return Allows.MORE
            case _ if (Right.APPROVE,) in needs_of(op, self._default_autonomy):
                # What would be approved is approved beforehand.
                return Allows.MORE
            case _:
                return op.allows

    def _is_by_token(self, question: Question | None, op: Op, *, spends: bool) -> bool:
        if self._token is None or self._token_trouble(question, op):
            return False
        if spends and question is not None and question.subject is not None:
            effect = question.subject.effect
            if effect is not None and not self._token.allows_all:
                self._consent.tokens.use(self._token.token_id, self._token.uses(effect) or 0)
        return True

    def _token_trouble(self, question: Question | None, op: Op) -> str:
        """Return why the shown token does not cover an op, as a clause; empty: it does."""
        if self._token is None:
            return ""
        self._token = self._consent.tokens.find(self._secret, self._consent.clock_ms())
        if self._token is None:
            return "the token is over or revoked"
        why = self._token.refuses(question, _answers_of(op))
        return f"the token {self._token.name!r} does not cover it: {why}" if why else ""

    def _as_a_programs(self, op: Op, verdict: Verdict) -> Op:
        """Return an op whose words are not the operator's. Raises NotAllowedError."""
        begins = isinstance(op, SessionCreate)
        if begins and verdict.kind is not ClientKind.PROGRAM:
            return op  # A script's goal is its owner's: what it leads to is approved all the same.
        if isinstance(op, SessionCreate | UserInput | UserInputAnswer):
            told = replace(op, speaker=Speaker.MODEL)
            return replace(told, said="") if isinstance(told, SessionCreate) else told
        if verdict.kind is ClientKind.PROGRAM:
            raise _refused(_named(op), verdict, "")
        return op


class Gates:
    """Make the gates of one core's clients.

    Args:
        consent: what the core knows of persons and programs.
        default_autonomy: a session's, where the op does not set it.
    """

    def __init__(self, consent: Consent, default_autonomy: Autonomy) -> None:
        self._consent = consent
        self._default_autonomy = default_autonomy
        self._phones = PhoneDoor(consent.phones, consent.clock_ms)

    def near(self, chain: Sequence[Process], name: str) -> Gate:
        """Make that of a client on this computer, by its process and ancestors."""
        return Gate(self._consent, chain, self._default_autonomy, name=name, phones=self._phones)

    def own(self) -> Gate:
        """Make that of the core's own process."""
        return self.near(ancestry(os.getpid()), "this program")

    def far(self) -> Gate:
        """Make that of a client on another computer."""
        return Gate(self._consent, (), self._default_autonomy, is_far=True, phones=self._phones)


def _is_of_program(op: Op) -> bool:
    """Return whether an op says that a program gives it."""
    if isinstance(op, SessionCreate) and op.direct:
        return not op.one_act
    return getattr(op, "speaker", None) is Speaker.MODEL and not isinstance(op, DirectCall)


def _is_begun_by_program(session: Session) -> bool:
    return session.goal_speaker is Speaker.MODEL and not session.one_act


async def _question_of(op: Op, core: Core) -> Question | None:
    """Return the open question that an op answers."""
    if not isinstance(op, UserInputAnswer):
        return None
    open_now = (await core.overview()).questions
    return next((one for one in open_now if one.question_id == op.question_id), None)


def _answers_of(op: Op) -> tuple[str, ...]:
    match op:
        case UserInputAnswer():
            several = (one for given in op.answers.values() for one in given)
            return tuple(filter(None, (op.answer, *several)))
        case NoticeReply():
            return (op.text,)
        case _:
            return ()


def _is_no(answers: tuple[str, ...]) -> bool:
    return all(map(is_no, answers))


def _refuses(question: Question, answers: tuple[str, ...]) -> bool:
    """Return whether answers plainly refuse what a question asks leave for."""
    if question.is_approval:
        return _is_no(answers)
    # The last of Switchboard's own options changes nothing.
    return question.asks_leave and all(one == question.options[-1].label for one in answers)


def _refused(what: str, verdict: Verdict, token_trouble: str) -> NotAllowedError:
    kind = LockedError if verdict.can_unlock else NotAllowedError
    why = token_trouble or verdict.why
    return kind(f"{what} is taken from a person only: {why}.", verdict.remedy)


def _named(op: Op) -> str:
    if isinstance(op, UserInputAnswer | NoticeReply):
        return "An approval"
    return f"What allows an agent more ({op.__struct_config__.tag})"
