"""Ask a verifier about the requirements that structure left open: a model, or rules without one.

Invariants: it is asked once; what it points at is looked up, and its "met" counts only where that
passes `agent.loop.verification.acceptance`; a verifier that fails confirms nothing; what it cost is
told.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from agent.errors import ModelError, StoreError
from agent.loop.images.image_prep import Pictures
from agent.loop.images.set_of_marks import MEDIA_TYPE
from agent.loop.observe import Sleep
from agent.loop.screen.changes import PICTURE_ONLY
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import verdict_of
from agent.loop.verification.pointers import all_pointed
from agent.loop.verification.quotes import find
from agent.loop.verification.reply import read_reply
from agent.loop.verification.request import verdict_request
from agent.models.model import Model, ModelReply, ModelRequest
from agent.models.verifying import Rules, SeenScreen
from agent.records import AppInfo, GoalVerdict, Requirement, RequirementVerdict, Usage, VerifiedBy
from agent.safety.redacting.redaction import redact_secrets
from agent.text import one_line

ATTEMPTS = 2  # Calls of a verifier; the work is not held up longer by one that fails.
RETRY_S = 2.0
MAX_EVIDENCE = 24  # So many pointers are kept with a requirement.


class Case(NamedTuple):
    """What a verifier is asked about."""

    past: ClaimHistory
    requirements: tuple[Requirement, ...]
    """Those that are open."""
    decided: tuple[RequirementVerdict, ...] = ()
    answer: str = ""
    phone: str = ""


class Verified(NamedTuple):
    """What a verifier came to: a verdict on each open requirement, still to be checked."""

    verdicts: tuple[RequirementVerdict, ...]
    usage: Usage = Usage()
    failure: str = ""
    """Why it could not answer."""


class Verifier(Protocol):
    """Whoever looks whether requirements are met."""

    async def verify(self, case: Case) -> Verified:
        """Look at what was done and seen. Raises nothing but a cancellation."""


@dataclass(slots=True)
class ModelVerifier:
    """Ask a model.

    Args:
        model: who is asked.
        read_blob: reads a frame by its digest.
    """

    model: Model
    read_blob: Callable[[str], Awaitable[bytes]]
    sleep: Sleep = asyncio.sleep
    _pictures: Pictures = field(default_factory=Pictures)

    async def verify(self, case: Case) -> Verified:
        request = verdict_request(
            case.past,
            case.requirements,
            decided=case.decided,
            phone=case.phone,
            answer=case.answer,
            picture=await self._picture(case.past) if self.model.sees else None,
        )
        try:
            reply = await self._ask(request)
        except ModelError as error:
            why = f"The verifier failed: {redact_secrets(one_line(error.message, 300))}"
            return Verified(_unsaid(case, why), failure=why)
        said = read_reply(reply, [one.number for one in case.requirements])
        verdicts: list[RequirementVerdict] = []
        for one in case.requirements:
            read = said.get(one.number)
            if read is None:
                verdicts += _unsaid(case._replace(requirements=(one,)), "The verifier said nothing")
                continue
            evidence = all_pointed(read.pointers, case.past, MAX_EVIDENCE)
            by = VerifiedBy.VERIFIER
            if read.verdict is GoalVerdict.CANNOT_TELL:
                by = VerifiedBy.NOBODY
            verdicts.append(verdict_of(one, read.verdict, by, read.reason, evidence))
        return Verified(tuple(verdicts), reply.usage)

    async def _ask(self, request: ModelRequest) -> ModelReply:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self.model.complete(request)
            except ModelError as error:
                if attempt == ATTEMPTS or not error.retryable:
                    raise
                await self.sleep(min(error.retry_after_s or RETRY_S, RETRY_S * 5))
        raise AssertionError("the last attempt returns or raises")

    async def _picture(self, past: ClaimHistory) -> tuple[bytes, str] | None:
        """Return the last frame where its elements do not say all of it, or did not suffice."""
        if past.last is None:
            return None
        _, seen = past.last
        says_little = (
            seen.is_silent
            or len(seen.elements) <= 1
            or any(other.change.startswith(PICTURE_ONLY) for _, other in past.seen)
        )
        if seen.frame is None or not (says_little or past.refusals):
            return None
        try:
            data = await self.read_blob(seen.frame.digest)
        except StoreError:
            return None
        picture = await asyncio.shield(self._pictures.begin(data, seen.elements))
        if picture.data is None or picture.is_black:
            return None
        return picture.data, MEDIA_TYPE


@dataclass(slots=True)
class RulesVerifier:
    """Read the screens by the offline pilot's rules, for all requirements together."""

    rules: Rules
    apps: Callable[[], Sequence[AppInfo]]

    async def verify(self, case: Case) -> Verified:
        past = case.past
        found = self.rules(
            past.goal,
            past.hints,
            apps=[(app.package, app.label) for app in self.apps()],
            screens=[SeenScreen(s.package, s.lines, s.fields) for s in past.screens],
            pressed=[done.label for done in past.actions if done.took_effect and done.label],
            before=len(past.screens) - len(past.screens_since),
        )
        evidence = tuple(find(quote, past.screens) for quote in found.quotes)
        verdict, by = found.verdict, VerifiedBy.RULES
        if any(not one.step for one in evidence) or not evidence:
            verdict, by = GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY
        return Verified(
            tuple(verdict_of(one, verdict, by, found.reason, evidence) for one in case.requirements)
        )


def _unsaid(case: Case, why: str) -> tuple[RequirementVerdict, ...]:
    return tuple(
        verdict_of(one, GoalVerdict.CANNOT_TELL, VerifiedBy.NOBODY, why)
        for one in case.requirements
    )
