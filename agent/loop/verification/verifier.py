"""Ask a verifier whether a goal is met: a model in its own conversation, or rules without one.

Invariants: words that are quoted count only where a stored screen shows them; a verifier that fails
or says nothing usable confirms nothing; what it cost is told.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from agent.errors import ModelError, StoreError
from agent.loop.images.image_prep import Pictures
from agent.loop.images.set_of_marks import MEDIA_TYPE
from agent.loop.observe import Sleep
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.goal_parts import Shown, names_of, nowhere, parts_of
from agent.loop.verification.quote_relevance import objection
from agent.loop.verification.quotes import counted, find, normalised
from agent.loop.verification.reply import ReadReply, read_reply
from agent.loop.verification.request import named_back, shown_steps, verdict_request
from agent.models.model import Model, ModelReply, ModelRequest
from agent.models.verifying import Rules, SeenScreen
from agent.records import AppInfo, GoalVerdict, Usage, Verification, VerifiedBy
from agent.safety.redacting.redaction import redact_secrets
from agent.text import one_line

ATTEMPTS = 2  # Calls of a verifier; the work is not held up longer by one that fails.
RETRY_S = 2.0
MAX_EVIDENCE = 12  # So many quotes are kept with a verification.
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Claim(NamedTuple):
    """What is claimed beside success."""

    answer: str = ""  # Where the goal asks for an answer or for data, or may do.
    values: tuple[str, ...] = ()  # Words of the answer.
    looks_only: bool = False  # Whether the goal needs no change.


class Verified(NamedTuple):
    """What a verifier came to."""

    verification: Verification
    usage: Usage = Usage()
    answered: bool = True
    """False: it failed, so that its silence says nothing."""
    missing: str = ""
    """What it would have to see to tell; empty where it told, or said nothing of it."""


class Verifier(Protocol):
    """Whoever looks whether a goal is met."""

    async def verify(self, past: ClaimHistory, claim: Claim) -> Verified:
        """Look at what was done and seen. Raises nothing but a cancellation."""


@dataclass(slots=True)
class ModelVerifier:
    """Ask a model.

    Args:
        model: who is asked.
        read_blob: reads a frame by its digest.
        is_same: whether it is the model that did the work.
        phone: returns date, time and language of the phone when the work began; empty: not known.
    """

    model: Model
    read_blob: Callable[[str], Awaitable[bytes]]
    is_same: bool
    phone: Callable[[], str]
    sleep: Sleep = asyncio.sleep
    _pictures: Pictures = field(default_factory=Pictures)

    async def verify(self, past: ClaimHistory, claim: Claim) -> Verified:
        request = verdict_request(
            past,
            phone=self.phone(),
            answer=claim.answer,
            values=claim.values,
            pictures=await self._frames(past) if self.model.sees else None,
        )
        usage = Usage()
        try:
            reply = await self._ask(request)
            said, usage = read_reply(reply), reply.usage
            found = self._judge(said, past, claim)
            parts = parts_of(past) if found.is_met else ()
            if missed := nowhere(parts, past):
                why = f"Nothing shows {names_of(missed)}."
                unshown = Verification(reason=_overruled_reason(said, why), evidence=found.evidence)
                return Verified(unshown, usage, missing=why)
            quoted = Shown(said.quotes)
            if unquoted := [part for part in parts if not part.is_in(quoted)]:
                # One verdict for all of a goal: what nobody looked at is named once.
                reply = await self._ask(named_back(request, names_of(unquoted)))
                usage = usage.plus(reply.usage)
                again = read_reply(reply)
                said = again._replace(quotes=tuple(dict.fromkeys((*again.quotes, *said.quotes))))
                found = self._judge(said, past, claim)
        except ModelError as error:
            why = redact_secrets(one_line(error.message, 300))
            failed = Verification(reason=f"The verifier failed: {why}")
            return Verified(failed, usage, answered=False)
        missing = said.reason if said.verdict is GoalVerdict.CANNOT_TELL else ""
        return Verified(found, usage, missing=missing)

    async def _ask(self, request: ModelRequest) -> ModelReply:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self.model.complete(request)
            except ModelError as error:
                if attempt == ATTEMPTS or not error.retryable:
                    raise
                await self.sleep(min(error.retry_after_s or RETRY_S, RETRY_S * 5))
        raise AssertionError("the last attempt returns or raises")

    def _judge(self, said: ReadReply, past: ClaimHistory, claim: Claim) -> Verification:
        evidence = tuple(find(quote, past.screens) for quote in said.quotes)
        shown = tuple(one for one in evidence if one.step)
        things = counted([one.quote for one in shown], past.screens)
        evidence, kept = evidence[:MAX_EVIDENCE], shown[:MAX_EVIDENCE]
        nobody = Verification(reason=said.reason, evidence=evidence)
        match said.verdict:
            case GoalVerdict.CANNOT_TELL:
                return nobody
            case GoalVerdict.MET if shown and not claim.looks_only:
                why = objection(shown, past, is_same=self.is_same)
                if why:
                    return replace(nobody, reason=_overruled_reason(said, why))
            case _:
                pass
        if said.verdict is GoalVerdict.MET and (unread := unread_numbers(claim, past, things)):
            why = f"{', '.join(unread)}: on no stored screen."
            return Verification(reason=_overruled_reason(said, why), evidence=evidence)
        if not shown:
            why = "What it quotes is on no stored screen." if evidence else "It quotes no screen."
            return Verification(
                reason=_overruled_reason(said, why),
                evidence=evidence,
                verdict=said.verdict if said.verdict is GoalVerdict.NOT_MET else nobody.verdict,
            )
        return Verification(
            verified_by=VerifiedBy.VERIFIER, verdict=said.verdict, reason=said.reason, evidence=kept
        )

    async def _frames(self, past: ClaimHistory) -> dict[int, tuple[bytes, str]]:
        """Return the screens' frames as a model is shown them; one that is gone is left out."""
        frames: dict[int, tuple[bytes, str]] = {}
        for step, seen in shown_steps(past):
            if seen.frame is None:
                continue
            try:
                data = await self.read_blob(seen.frame.digest)
            except StoreError:
                continue
            picture = await asyncio.shield(self._pictures.begin(data, seen.elements))
            if picture.data is not None and not picture.is_black:
                frames[step] = (picture.data, MEDIA_TYPE)
        return frames


@dataclass(slots=True)
class RulesVerifier:
    """Read the screens by the offline pilot's rules."""

    rules: Rules
    apps: Callable[[], Sequence[AppInfo]]

    async def verify(self, past: ClaimHistory, claim: Claim) -> Verified:
        found = self.rules(
            past.goal,
            past.hints,
            apps=[(app.package, app.label) for app in self.apps()],
            screens=[SeenScreen(s.package, s.lines, s.fields) for s in past.screens],
            pressed=[done.label for done in past.actions if done.took_effect and done.label],
            before=len(past.screens) - len(past.screens_since),
        )
        evidence = tuple(find(quote, past.screens) for quote in found.quotes)
        if any(not one.step for one in evidence) or not evidence:
            return Verified(Verification(reason=found.reason, evidence=evidence))
        return Verified(
            Verification(
                verified_by=VerifiedBy.RULES,
                verdict=found.verdict,
                reason=found.reason,
                evidence=evidence,
            )
        )


def _overruled_reason(said: ReadReply, why: str) -> str:
    """Return why a verdict does not count, with the words of whoever gave it as theirs."""
    reason = said.reason.strip().rstrip(".")
    return f'The verifier says "{reason}". {why}' if reason else why


def unread_numbers(claim: Claim, past: ClaimHistory, things: int = 0) -> tuple[str, ...]:
    """Return the numbers of an answer where no stored screen shows any of them.

    A count need not be written anywhere: a single digit proves nothing, and a larger one is shown
    by as many quoted things of one kind.

    Args:
        things: how many rows of one kind were quoted.
    """
    if not claim.looks_only or claim.values:
        # Of a result as data each value is looked for by itself.
        return ()
    said = (word for word in normalised(claim.answer).split() if _NUMBER.fullmatch(word))
    numbers = tuple(dict.fromkeys(word for word in said if len(word) > 1))
    if str(things) in numbers:
        return ()
    if any(screen.shows(f" {number} ") for number in numbers for screen in past.screens):
        return ()
    return numbers
