"""Decide whether an action may be done: by scope, policy, autonomy, app rules and the operator.

The task checks bans and the background rule first. Invariants: an action that needs approval is
done at most once per approval; an action the operator refused is not asked about again in the same
turn; silence is a no; a secret is asked for as a secret.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from agent.knowledge.app_names import known_name
from agent.loop.acting.act_reviews import ActReviews
from agent.loop.acting.acts import acts_of, stored_acts
from agent.loop.acting.goal_reading import goal_words
from agent.loop.acting.run_approvals import run_events
from agent.loop.acting.vault_use import Opening, VaultUse
from agent.loop.acting.warrant_passes import Nearest, WarrantPasses
from agent.loop.observe import Seconds
from agent.loop.screen.verify import blocked, failed
from agent.loop.task_context import PreparedAnswer, TaskContext
from agent.protocol import AllowanceUsed, ToolCallRequested
from agent.records import DIRECT, ActReview, Autonomy, Element, Observation, ReviewVerdict, Subject
from agent.safety.allowances.covering import Covered, covering
from agent.safety.allowances.wording import why_asked
from agent.safety.app_rules import AppDecision, AppRule, apply, rule_for
from agent.safety.approval import OPTIONS, approval_text, is_yes, refused_because, typed_instead
from agent.safety.capabilities import Capability, Decision, decide
from agent.safety.effects import judge as effects
from agent.safety.effects.context import Context
from agent.safety.effects.flow import Flow
from agent.safety.effects.texts import judge_completed, judge_text
from agent.safety.effects.verdict import Risk, Verdict
from agent.safety.effects.wording import approval_question
from agent.safety.egress.judging import judge_egress
from agent.safety.granting import Grants
from agent.safety.navigation.known_presses import KNOWN_RULE
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.redacting.secrets import Secrets, is_placeholder, is_secret_field, vault_reference
from agent.safety.reviewer.card import reviewed_verdict, screen_sha256
from agent.safety.reviewer.guesses import is_guess
from agent.safety.reviewer.view_only import is_view_only
from agent.safety.scope import out_of_scope
from agent.safety.typed_text import TypedText
from agent.safety.unread.goal_words import GoalWords
from agent.safety.unread.rules import settle_unread
from agent.safety.warrants.reach import Scene
from agent.text import one_line
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import (
    BadArguments,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)
from agent.tools.gestures.keypad import PressKeys, keys_for
from agent.tools.planned_action import PhoneTool

_KEYPAD_TRIES = 2  # How often the operator is asked for what fits a keypad.


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard decided; the model reads the refusal."""

    refusal: str = ""
    waited: bool = False  # A person was waited for, so the screen may have changed.
    approved: bool = False  # The operator was asked about the act and said yes.
    secret: str | None = None  # What the operator gave to be typed for a placeholder.
    opening: Opening | None = None  # The entry of the vault that may be opened for it.
    instead: str | None = None  # What the operator wants typed instead of the model's text.
    review_ms: int = 0  # How long the reviewer was waited for.


def judge(
    resolved: ResolvedAction,
    screen: Observation,
    flow: Flow | None = None,
    *,
    destinations: Sequence[str] = (),
    commits: Mapping[str, Sequence[str]] | None = None,
    **known: str,
) -> Verdict:
    """Judge an action by what it would do, on the real element and the real text.

    Args:
        flow: what the session is in the middle of.
        destinations: the hosts that the operator's settings allow.
        commits: what the card of the app says of its controls.
        known: the phone and the goal, where they are known.
    """
    flow = Flow() if flow is None else flow
    context = Context(screen=screen, flow=flow, commits=commits or {}, **known)
    acts = acts_of(resolved)
    verdict = effects.judge_all(acts, context)
    if verdict.decision is not Decision.ALLOW:
        return verdict
    outside = (judge_egress(act, screen, goal=context.goal, listed=destinations) for act in acts)
    return next((found for found in outside if found is not None), verdict)


@dataclass(slots=True)
class Guard:
    """One turn's guard."""

    context: TaskContext
    secrets: Secrets = field(default_factory=Secrets)
    seconds: Seconds = time.monotonic
    reviews: ActReviews = field(init=False)
    vault: VaultUse = field(init=False)
    _bound_to: str = ""
    """The digest of the screen that a reviewer asked about; empty: it did not ask."""
    _denied: set[str] = field(default_factory=set)
    _grants: Grants | None = None
    _flow: Flow | None = None
    _judged: tuple[ResolvedAction, Observation, Verdict] | None = None
    """The newest judgement: an action is weighed when it is stored and when it is ruled on."""
    _typed: TypedText | None = None
    _warrants: WarrantPasses = field(init=False)
    _review: ActReview | None = None
    """What the reviewer says of the action that is ruled on; None: it was not asked."""

    def __post_init__(self) -> None:
        self._warrants = WarrantPasses(self.context)
        self.vault = VaultUse(self.context, self.secrets)
        self.reviews = ActReviews(self.context, self.seconds, self._warrants.words)

    def weigh(self, resolved: ResolvedAction, screen: Observation) -> Verdict:
        """Judge an action by all that is known without asking anybody."""
        session = self.context.session
        package = _package(resolved, screen)
        verdict = self._judge(resolved, screen)
        front = screen.foreground
        activity = front.activity if front.package == package else ""
        outside = out_of_scope(package, session.target_package, activity)
        if outside and verdict.capability is not Capability.NAVIGATE:
            return _refused(verdict, outside, "app scope")
        return permit(verdict, package, session.autonomy, self.context.app_rules)

    def _judge(self, resolved: ResolvedAction, screen: Observation) -> Verdict:
        """Judge the very same action on the very same screen once."""
        if self._judged is None or not (self._judged[0] is resolved and self._judged[1] is screen):
            session = self.context.session
            card = self.context.library.of(_package(resolved, screen))
            verdict = judge(
                resolved,
                screen,
                self.flow,
                destinations=self.context.destinations,
                commits={} if card is None else card.commits,
                phone=session.serial,
                goal=self._operator_text,
            )
            kinds = self._typed_before().completes_by(acts_of(resolved))
            if kinds and verdict.decision is not Decision.BLOCK:
                verdict = judge_completed(kinds)
            if self._may_be_known(verdict) and self._knows(resolved, screen):
                rules = tuple(filter(None, (verdict.rule, *verdict.also)))
                verdict = Verdict(decision=Decision.ALLOW, rule=KNOWN_RULE, also=rules)
            elif not self.reviews.is_on:
                known = self._context_of(screen)
                verdict = settle_unread(verdict, acts_of(resolved), known, self._goal_words)
            self._judged = resolved, screen, self._named(verdict)
        return self._judged[2]

    def _may_be_known(self, verdict: Verdict) -> bool:
        """Return whether a verdict gives way to what is known of a press.

        A guess does, as to a review: not in what may be a payment under way, and not in a job,
        where nobody watches.
        """
        if verdict.decision is Decision.ALLOW:
            return verdict.effect is None
        return is_guess(verdict) and self.flow.verb is None and not self.context.background

    def _knows(self, resolved: ResolvedAction, screen: Observation) -> bool:
        """Return whether an action is a press that is known to open a page and do no more."""
        return self.context.known_presses.has(acts_of(resolved), screen)

    def _context_of(self, screen: Observation) -> Context:
        """Return what is known around a screen, for a card."""
        return Context(
            screen=screen,
            flow=self.flow,
            phone=self.context.session.serial,
            goal=self._operator_text,
        )

    def _named(self, verdict: Verdict) -> Verdict:
        """Add the app's known name to an effect."""
        effect = verdict.effect
        name = "" if effect is None else known_name(effect.app, self.context.library)
        if effect is None or not name:
            return verdict
        return replace(verdict, effect=replace(effect, app_name=name))

    def question_text(self, resolved: ResolvedAction, verdict: Verdict, why: str = "") -> str:
        """Return the question of an approval; see the function of this name."""
        action = resolved.action
        app = action.app if isinstance(action, LaunchApp) else ""
        name = known_name(app, self.context.library) if app else ""
        return question_text(resolved, verdict, why, app_name=name)

    def bound(self, resolved: ResolvedAction, screen: Observation) -> tuple[str, str]:
        """Return the effect's digest and control, to which an approval is bound; empty: nothing."""
        effect = self._judge(resolved, screen).effect
        if effect is not None:
            return effect.digest, effect.control
        return (screen_sha256(screen), "") if self._bound_to else ("", "")

    @property
    def _goal_words(self) -> GoalWords:
        """What the operator asked for.

        A program that makes the calls itself wrote the goal, so only that it looks counts of it.
        """
        session = self.context.session
        asked = goal_words(self.context.operator_texts, session.requirements)
        return GoalWords() if session.model.startswith(DIRECT) and not asked.looks else asked

    @property
    def _operator_text(self) -> str:
        """All that the operator said, the newest first: a bounded reader loses the oldest."""
        return "\n".join(reversed(self.context.operator_texts))

    @property
    def flow(self) -> Flow:
        """What the session is in the middle of, by its history."""
        if self._flow is None:
            history = self.context.history
            # What was approved in an earlier run lets nothing pass in this one.
            past = run_events(history) if self.context.background else history
            self._flow = Flow.of(past, stored_acts)
        return self._flow

    def _typed_before(self) -> TypedText:
        """Return what the session has typed so far."""
        if self._typed is None:
            self._typed = TypedText.of(self.context.history, stored_acts)
        return self._typed

    async def rule(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested
    ) -> Ruling:
        """Decide, asking the reviewer and the operator when the policy says so."""
        began = self.seconds()
        verdict = await self.reviewed(resolved, screen, call)
        review_ms = round((self.seconds() - began) * 1000)
        ruling = await self._rule(verdict, resolved, screen, call)
        return replace(ruling, review_ms=review_ms)

    def prepare(self, resolved: ResolvedAction, screen: Observation) -> None:
        """Begin to ask the reviewer about an action that is about to be ruled on."""
        if self._needs_review(self.weigh(resolved, screen), resolved, screen):
            self.reviews.begin(resolved, screen)

    async def reviewed(
        self, resolved: ResolvedAction, screen: Observation, call: ToolCallRequested
    ) -> Verdict:
        """Judge an action by rules, then by whoever reviews.

        A review makes a verdict stricter, and lets pass what only guesses ask about.
        """
        verdict = self.weigh(resolved, screen)
        self._bound_to, self._review = "", None
        if not self._needs_review(verdict, resolved, screen):
            self.reviews.drop()
            return verdict
        self._review = review = await self.reviews.review(resolved, screen, call)
        if verdict.decision is Decision.ASK:
            if review.verdict is ReviewVerdict.ALLOW:
                return self._without_guess(resolved, screen)
            if review.verdict is ReviewVerdict.ASK:
                return _with_word(verdict, review)
        stricter = reviewed_verdict(verdict, review, acts_of(resolved), self._context_of(screen))
        if stricter.decision is Decision.ASK:
            self._bound_to = screen_sha256(screen)
        return self._named(stricter)

    def _needs_review(
        self, verdict: Verdict, resolved: ResolvedAction, screen: Observation
    ) -> bool:
        """Return whether the rules alone do not settle an action.

        What they refuse is settled, what the floor asks about, and the rest of what was approved.
        """
        unread = verdict.decision is Decision.ALLOW and verdict.effect is None
        if unread and verdict.rule == KNOWN_RULE:
            return False
        if not (unread or is_guess(verdict)) or not self.reviews.is_on:
            return False
        if resolved.vault or wants_secret(resolved) or wants_keypad_secret(resolved):
            return False
        return is_guess(verdict) or not is_view_only(acts_of(resolved), screen)

    def _without_guess(self, resolved: ResolvedAction, screen: Observation) -> Verdict:
        """Return what scope, autonomy and the app's rules say of an action without an effect."""
        session = self.context.session
        plain = Verdict(decision=Decision.ALLOW)
        package = _package(resolved, screen)
        return permit(plain, package, session.autonomy, self.context.app_rules)

    async def _rule(
        self,
        verdict: Verdict,
        resolved: ResolvedAction,
        screen: Observation,
        call: ToolCallRequested,
    ) -> Ruling:
        """Decide by a verdict, asking the operator when it says so."""
        if resolved.vault and verdict.decision is not Decision.BLOCK:
            return await self._rule_vault(verdict, resolved, screen, call)
        if wants_keypad_secret(resolved) and verdict.decision is not Decision.BLOCK:
            # Giving the secret approves it; any other effect is approved first.
            if verdict.decision is Decision.ALLOW or verdict.risk in {Risk.NONE, Risk.SECRET}:
                return await self._ask_keypad_secret(screen, call)
            ruling = await self._rule_asked(resolved, verdict, screen, call)
            return ruling if ruling.refusal else await self._ask_keypad_secret(screen, call)
        match verdict.decision:
            case Decision.ALLOW:
                return Ruling()
            case Decision.BLOCK:
                return Ruling(refusal=blocked(f"This is not allowed: {verdict.reason}"))
            case Decision.ASK:
                pass
        if wants_secret(resolved):
            return await self._ask_secret(resolved, call)
        return await self._rule_asked(resolved, verdict, screen, call)

    async def _rule_asked(
        self,
        resolved: ResolvedAction,
        verdict: Verdict,
        screen: Observation,
        call: ToolCallRequested,
    ) -> Ruling:
        """Decide what needs the operator: by an earlier answer or an allowance, else by asking."""
        effect = verdict.effect
        bound = effect.digest if effect is not None else ""
        key = f"{call.tool} {resolved.element.key if resolved.element else call.arguments} {bound}"
        if key in self._denied:
            return Ruling(refusal=blocked("The operator has already rejected this"))
        subject = subject_of(resolved, verdict, screen, call)
        if self._granted().covers(subject):
            self.allow_rest(verdict, resolved, screen)
            return Ruling()
        covered = self._allowance(resolved, verdict, screen)
        if covered is not None:
            await self.context.emit(
                AllowanceUsed(
                    call_id=call.call_id,
                    at=covered.at,
                    amount=covered.amount,
                    effect=covered.effect,
                    element=resolved.element,
                )
            )
            self.allow_rest(verdict, resolved, screen)
            return Ruling()
        near = self._nearest_warrant(resolved, verdict, screen)
        if await self._warrants.passes(near, self._review, resolved.element, call.call_id):
            self.allow_rest(verdict, resolved, screen)
            return Ruling()
        if effect is not None:
            more = why_asked(effect.verb, self.context.session.allowances)
            reason = "; ".join(filter(None, (verdict.reason, more)))
            verdict = replace(verdict, reason=reason)
        answer = await self._ask_beside(near, resolved, verdict, screen, call)
        if is_yes(answer):
            await self._warrants.told_of_use(near, resolved.element, call.call_id)
            self._granted().take(subject, answer)
            self.allow_rest(verdict, resolved, screen)
            instead = typed_instead(answer) if isinstance(resolved.action, TypeText) else None
            return Ruling(waited=True, approved=True, instead=instead)
        self._denied.add(key)
        return Ruling(refusal=blocked(refused_because(answer)), waited=True)

    async def _rule_vault(
        self,
        verdict: Verdict,
        resolved: ResolvedAction,
        screen: Observation,
        call: ToolCallRequested,
    ) -> Ruling:
        """Decide whether a secret of the vault may be used: by its entry, else by asking.

        What a keypad does beside taking the secret, such as a payment, is approved in any case.
        """
        entry, why = await self.vault.entry_for(resolved)
        if entry is None:
            return Ruling(refusal=blocked(why))
        key = f"vault {entry.name} {resolved.element.key if resolved.element else ''}"
        if key in self._denied:
            return Ruling(refusal=blocked("The operator has already rejected this"))
        does_more = verdict.decision is Decision.ASK and verdict.risk not in {
            Risk.NONE,
            Risk.SECRET,
        }
        if self.vault.is_allowed(entry) and not does_more:
            return Ruling(opening=Opening(entry=entry))
        if entry.is_sealed:
            if does_more:
                ruling = await self._rule_asked(resolved, verdict, screen, call)
                if ruling.refusal:
                    return ruling
            passphrase = await self.vault.ask_passphrase(entry, resolved, call)
            if passphrase is None:
                return Ruling(refusal=blocked("Nobody gave the passphrase in time"), waited=True)
            opening = Opening(entry=entry, passphrase=passphrase)
            return Ruling(opening=opening, waited=True, approved=does_more)
        answer = await self.ask(resolved, verdict, screen, call, note=self.vault.note(entry))
        if not is_yes(answer):
            self._denied.add(key)
            return Ruling(refusal=blocked(refused_because(answer)), waited=True)
        self.allow_rest(verdict, resolved, screen)
        return Ruling(opening=Opening(entry=entry), waited=True, approved=True)

    def _allowance(
        self, resolved: ResolvedAction, verdict: Verdict, screen: Observation
    ) -> Covered | None:
        """Return the session's allowance that covers an action which would be asked about."""
        session = self.context.session
        if session.autonomy is not Autonomy.TRUSTED_ACTIONS or session.for_job:
            return None
        if verdict.effect is None or not self._is_one_effect(resolved, verdict, screen):
            return None
        labels = [element.label for element in screen.elements]
        return covering(
            verdict.effect,
            session.allowances,
            labels,
            app_currency=self.flow.currency_of(verdict.effect.app),
        )

    def _is_one_effect(
        self, resolved: ResolvedAction, verdict: Verdict, screen: Observation
    ) -> bool:
        """Return whether an action is nothing beside its one effect.

        It holds no secret, opens no address, does not several acts, and is in no app that the
        operator wants to be asked about.
        """
        acts = acts_of(resolved)
        if len(acts) > 1 and not wants_keypad_secret(resolved):
            return False
        rule = rule_for(_package(resolved, screen), verdict.capability, self.context.app_rules)
        if rule is not None and rule.decision not in {AppDecision.ALLOW, AppDecision.INHERIT}:
            return False
        for act in acts:
            if judge_text(act.text or act.link).decision is not Decision.ALLOW:
                return False
            listed = self.context.destinations
            if judge_egress(act, screen, goal=self._operator_text, listed=listed) is not None:
                return False
        return True

    def _nearest_warrant(
        self, resolved: ResolvedAction, verdict: Verdict, screen: Observation
    ) -> Nearest | None:
        """Return the signed warrant that an action is inside of, or nearest to."""
        effect = verdict.effect
        if effect is None or effect.verb in self.context.warranting.two_people:
            return None
        if not self._is_one_effect(resolved, verdict, screen):
            return None
        scene = Scene(
            now_ms=self.context.now_ms(),
            labels=tuple(element.label for element in screen.elements),
            app_currency=self.flow.currency_of(effect.app),
        )
        return self._warrants.nearest(effect, scene)

    async def _ask_beside(
        self,
        near: Nearest | None,
        resolved: ResolvedAction,
        verdict: Verdict,
        screen: Observation,
        call: ToolCallRequested,
    ) -> str | None:
        """Ask, with a card that says how the action stands to a warrant."""
        if near is None:
            return await self.ask(resolved, verdict, screen, call)
        may_review = self.context.warranting.reviewer_may_approve and self.reviews.is_on
        if may_review and self._review is None:
            self._review = await self.reviews.review(resolved, screen, call)
        prepared = self._warrants.prepared(near, self._review, call.call_id)
        if prepared is None:
            return await self.ask(resolved, verdict, screen, call, note=near.words)
        # Above the facts: it is read while there is time.
        said = f"{prepared.by}, approves it in {prepared.after_s:.0f} s, unless you reject it"
        verdict = replace(verdict, reason="; ".join(filter(None, (verdict.reason, said))))
        note = "To take the reviewer's answer back, reject this or pause the session."
        return await self.ask(resolved, verdict, screen, call, note=note, prepared=prepared)

    def allow_rest(self, verdict: Verdict, resolved: ResolvedAction, screen: Observation) -> None:
        """Allow the rest of what was approved: a code, the phone's own confirmation."""
        if verdict.effect is not None:
            self.reviews.so_far.approve(verdict.effect)
            self.flow.approve(verdict.effect, screen, resolved.element)

    def done(self, resolved: ResolvedAction, screen: Observation) -> None:
        """Note an action that was done on a screen, or may have been."""
        acts = acts_of(resolved)
        for act in acts:
            self._typed_before().add(act)
        self.flow.did(acts[0], screen)
        if self.reviews.is_on or self.context.background:
            self.reviews.so_far.did(acts, screen)

    def undone(self) -> None:
        """Note that the action just allowed was not done, so nothing follows from it."""
        self.flow.undone()

    async def ask(
        self,
        resolved: ResolvedAction,
        verdict: Verdict,
        screen: Observation,
        call: ToolCallRequested,
        *,
        note: str = "",
        prepared: PreparedAnswer | None = None,
    ) -> str | None:
        """Ask the operator to approve, with the element and the frame."""
        return await self.context.ask(
            self.question_text(resolved, verdict),
            call_id=call.call_id,
            step=call.step,
            options=OPTIONS,
            approval=True,
            subject=subject_of(resolved, verdict, screen, call),
            note=note,
            prepared=prepared,
        )

    def _granted(self) -> Grants:
        """Return what was approved for the whole session, by its history; not what a job's was."""
        if self._grants is None:
            self._grants = Grants.of(self.context.history)
        return self._grants

    async def _ask_secret(self, resolved: ResolvedAction, call: ToolCallRequested) -> Ruling:
        """Return what was given for the field, or ask; it goes to the phone and nowhere else."""
        assert resolved.element is not None, "a stand-in is asked about for a field that is seen"
        given = self.secrets.take(resolved.element)
        if given is not None:
            return Ruling(secret=given)
        where = resolved.element.package or "the app in front"
        answer = await self.context.ask(
            f'What should be typed into "{resolved.element.label[:80]}" of {where}? '
            "The agent does not see it, and it is not stored.",
            call_id=call.call_id,
            step=call.step,
            secret=True,
        )
        if answer is None:
            return Ruling(refusal=blocked("Nobody gave the secret in time"), waited=True)
        return Ruling(waited=True, secret=answer)

    async def _ask_keypad_secret(self, screen: Observation, call: ToolCallRequested) -> Ruling:
        """Return what was given for the keypad, or ask; the harness presses it."""
        package = screen.foreground.package
        given = self.secrets.take_keypad(package)
        if given is not None and _fits_keypad(given, screen):
            return Ruling(secret=given)
        unfit = given is not None
        for _ in range(_KEYPAD_TRIES):
            answer = await self.context.ask(
                _keypad_question(screen, unfit=unfit),
                call_id=call.call_id,
                step=call.step,
                secret=True,
            )
            if answer is None:
                return Ruling(refusal=blocked("Nobody gave the secret in time"), waited=True)
            if _fits_keypad(answer, screen):
                return Ruling(waited=True, secret=answer)
            unfit = True
        return Ruling(
            refusal=failed("What the operator gave has no keys on the keypad"), waited=True
        )


def _fits_keypad(secret: str, screen: Observation) -> bool:
    try:
        return bool(keys_for(secret.strip(), screen.elements))
    except BadArguments:
        return False


def _keypad_question(screen: Observation, *, unfit: bool) -> str:
    """Return the question for what is to be pressed, with the title of the keypad."""
    title = next((e.label for e in screen.elements if not e.editable and is_secret_field(e)), "")
    named = f' for "{title[:80]}"' if title else ""
    first = "What you gave has characters that this keypad does not have.\n\n" if unfit else ""
    return (
        f"{first}What should be pressed on the keypad{named} of "
        f"{screen.foreground.package or 'the app in front'}? "
        "The agent does not see it, and it is not stored."
    )


def question_text(
    resolved: ResolvedAction, verdict: Verdict, why: str = "", *, app_name: str = ""
) -> str:
    """Return the question of an approval: what the action would do, and why it is asked.

    Args:
        why: the reason if the verdict has none.
        app_name: the known name of the app that it opens.
    """
    reason = verdict.reason if verdict.decision is Decision.ASK else ""
    said = intent(resolved)
    if app_name and isinstance(resolved.action, LaunchApp):
        said = f"Open {one_line(app_name, 60)} ({one_line(resolved.action.app, 80)})."
    if verdict.effect is None:
        return approval_text(said, reason or why)
    return approval_question(verdict.effect, said, reason or why)


def subject_of(
    resolved: ResolvedAction, verdict: Verdict, screen: Observation, call: ToolCallRequested
) -> Subject:
    """Return what a question about an action shows the operator."""
    return Subject(
        action=call.tool,
        capability=verdict.capability.value,
        risk=verdict.risk.value,
        element=resolved.element,
        frame=screen.frame,
        effect=verdict.effect,
    )


def permit(verdict: Verdict, package: str, autonomy: Autonomy, rules: Sequence[AppRule]) -> Verdict:
    """Apply autonomy and the rules for the app to a verdict."""
    if verdict.decision is Decision.BLOCK:
        return verdict
    level = decide(verdict.capability, autonomy)
    if level is Decision.BLOCK:
        said = f"the session is {autonomy.value.replace('_', ' ')}"
        return _refused(verdict, said, "autonomy")
    asks = Decision.ASK in (verdict.decision, level)
    decision = Decision.ASK if asks else Decision.ALLOW
    reason = verdict.reason or f"the session is set to {autonomy.value.replace('_', ' ')}"
    if verdict.decision is Decision.ASK:
        # No rule allows what the policy itself asks about.
        rules = [rule for rule in rules if rule.decision is not AppDecision.ALLOW]
    rule = rule_for(package, verdict.capability, rules)
    decision, why = apply(rule, verdict.capability, decision)
    own = "autonomy" if asks and verdict.decision is Decision.ALLOW else verdict.rule
    decider = "app rule" if why else own
    return replace(verdict, decision=decision, reason=why or reason, rule=decider)


def _package(resolved: ResolvedAction, screen: Observation) -> str:
    named = resolved.package or (resolved.element.package if resolved.element else "")
    return named or screen.foreground.package


def _refused(verdict: Verdict, reason: str, rule: str) -> Verdict:
    return replace(verdict, decision=Decision.BLOCK, reason=reason, rule=rule)


def _with_word(verdict: Verdict, review: ActReview) -> Verdict:
    """Return a rule's question with the reviewer's sentence on its card."""
    if verdict.effect is None or not review.sentence or review.fault:
        return verdict
    return replace(verdict, effect=replace(verdict.effect, reviewer=review.sentence))


def wants_secret(resolved: ResolvedAction) -> bool:
    """Return whether an action types a placeholder for a secret that only the operator knows."""
    action = resolved.action
    return (
        isinstance(action, TypeText)
        and resolved.element is not None
        and is_secret_field(resolved.element)
        and is_placeholder(action.text)
    )


def wants_keypad_secret(resolved: ResolvedAction) -> bool:
    """Return whether an action presses a placeholder for such a secret on a keypad."""
    return isinstance(resolved.action, PressKeys) and resolved.is_secret


def ban_refusal(element: Element, reason: str) -> str:
    """Return the refusal of an element that led nowhere before (CONTRACTS 5.2)."""
    name = f'Element [{element.number}] "{element.label[:60]}"'
    return f"BLOCKED: {name} is not pressed again: {reason}. Choose another way."


def duplicate_refusal() -> str:
    """Return the refusal of an action that was done twice already without effect."""
    return failed("You did exactly this twice already, and a third time leads nowhere")


def intent(resolved: ResolvedAction) -> str:
    """Return what the action would do, in a sentence."""
    action = resolved.action
    if isinstance(action, PhoneTool):
        return action.intent(resolved)
    if resolved.vault and resolved.element is not None:
        return f'Type {vault_reference(resolved.vault)} into "{resolved.element.label[:80]}".'
    if (
        isinstance(action, TypeText)
        and resolved.element is not None
        and is_secret_field(resolved.element)
    ):
        return f'Type {len(action.text)} hidden characters into "{resolved.element.label[:80]}".'
    if isinstance(action, TypeText):
        return f'Type "{redact_secrets(one_line(action.text, 200))}".'
    if resolved.element is not None and isinstance(action, LongPressElement):
        return f'Long-press "{resolved.element.label[:80]}".'
    if resolved.element is not None and isinstance(action, Scroll):
        return f'Swipe {action.direction} over "{resolved.element.label[:80]}".'
    if resolved.element is not None:
        return f'Press "{resolved.element.label[:80]}".'
    if isinstance(action, LaunchApp):
        return f'Open "{one_line(action.app, 80)}".'
    if isinstance(action, Scroll):
        return f"Scroll {action.direction}."
    if isinstance(action, PressButton):
        return f"Press {action.button}."
    return f"{resolved.said}."
