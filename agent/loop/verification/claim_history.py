"""What a claim is judged by: the goal, what was done about it and what was seen, from the events.

Folded from stored events, so a resumed turn has the same. Not the model's memory. Invariant: of an
earlier goal nothing counts for a newer one but the screens, which a fact may have been read from.
"""

from dataclasses import dataclass, field

from agent import protocol
from agent.loop.conversation.turn_prompt import TurnPrompt
from agent.loop.verification.quotes import StoredScreen, stored_reply, stored_screen
from agent.records import (
    ActionOutcome,
    Ledger,
    Observation,
    Question,
    QuestionKind,
    SeenEffect,
    SeenEffectKind,
)
from agent.safety.approval import is_yes
from agent.tools.registry import moves_view

MAX_SCREENS = 400
"""The newest screens that words are looked for on."""
FINISH_AGAIN = "if the goal is met, call finish again"
DO_AGAIN = (
    f"Do only what is missing, or open the screen that shows the result; {FINISH_AGAIN}. If it "
    "cannot be met, call finish with success=false and the reason"
)
"""How the refusal of a claim ends; stored ones may begin in other words."""
CORRECT_IT = "Call finish again with `result` corrected"
"""How the refusal of a result ends that does not fit the schema."""
_KEYS_THAT_LOOK = ("HOME", "BACK", "RECENTS", "NOTIFICATIONS", "MENU")
_SUPERSEDED = frozenset({SeenEffectKind.STATE, SeenEffectKind.DEVICE, SeenEffectKind.FIELD})
"""Kinds of effects of which, for one thing, only the newest says how it is."""


@dataclass(frozen=True, slots=True)
class PastAction:
    """One thing that was done, with what it came to."""

    step: int
    tool: str
    label: str
    arguments: str
    outcome: ActionOutcome
    result: str
    approved: str = ""
    """What the operator approved of it, in the words of the question; empty: was not asked."""
    capability: str = ""
    """What it took to be allowed (`agent.safety.capabilities`)."""

    @property
    def took_effect(self) -> bool:
        """Whether it may have changed something: to open an app, scroll or go back is to look."""
        if self.outcome is ActionOutcome.UNKNOWN:
            return True
        said = self.arguments.upper()
        looks = moves_view(self.tool) or (self.tool == "clipboard" and '"READ"' in said)
        looks = looks or (
            self.tool == "press_button" and any(f'"{key}"' in said for key in _KEYS_THAT_LOOK)
        )
        return not looks and not self.went_wrong

    @property
    def went_wrong(self) -> bool:
        """Whether its result says that it did nothing, or that nobody knows."""
        wrong = self.result.startswith(("WARNING", "FAILED", "BLOCKED", "UNKNOWN"))
        return wrong or self.outcome is not ActionOutcome.DONE


@dataclass(slots=True)
class ClaimHistory:
    """What was asked, done and seen in one session."""

    goal: str
    hints: list[str] = field(default_factory=list)
    """What the operator said since the goal, oldest first."""
    actions: list[PastAction] = field(default_factory=list)
    """Since the goal, oldest first."""
    waits: list[tuple[int, str]] = field(default_factory=list)
    """Waits since the goal, by step, with what was there afterwards."""
    facts: tuple[str, ...] = ()
    """What the model asked to remember: for the verifier to read, no evidence by itself."""
    screens: list[StoredScreen] = field(default_factory=list)
    before: tuple[int, Observation] | None = None
    """The newest screen since the goal from before anything may have changed, with its step."""
    last: tuple[int, Observation] | None = None
    seen: list[tuple[int, Observation]] = field(default_factory=list)
    """Every screen since the goal, oldest first, as it can be pointed at."""
    ledger: Ledger = field(default_factory=Ledger)
    """What the session was seen to have changed, for earlier goals too."""
    answers: list[tuple[str, str]] = field(default_factory=list)
    """What the operator was asked since the goal and answered; no secrets."""
    operator_acted: bool = False
    """Whether the operator did something on the phone since the goal."""
    other_phones: tuple[str, ...] = ()
    """The names of phones that were online too when it was claimed, and are none of the work's."""
    came_to: ActionOutcome | None = None
    """How the newest call ended that was no claim."""
    refusals: int = 0
    """Claims of success that were refused since the goal."""
    state_at_refusal: str = ""
    """What was known when a claim was refused last."""
    misfits: int = 0
    """Results since the goal that did not fit the schema."""
    _first_goal: str = field(init=False)
    _asked_for: TurnPrompt = field(default_factory=TurnPrompt)
    _hints: dict[str, str] = field(default_factory=dict)
    _calls: dict[str, protocol.ToolCallRequested] = field(default_factory=dict)
    _asked: dict[str, Question] = field(default_factory=dict)
    _approved: dict[str, str] = field(default_factory=dict)
    _since: int | None = None  # The step of the first screen that was seen since the goal.
    _begun: bool = False
    _over: bool = False  # The turn of this goal came to its end.
    _waited: tuple[int, str] | None = None  # What a wait came to that no screen was seen after yet.

    def __post_init__(self) -> None:
        self._first_goal = self.goal

    @property
    def may_have_changed(self) -> bool:
        """Whether anything since the goal may have changed something, seen or not."""
        return any(done.took_effect for done in self.actions) or self.operator_acted

    @property
    def has_effects(self) -> bool:
        """Whether an effect since the goal stands that is more than an open dialog or a toast."""
        passing = {SeenEffectKind.DIALOG_OPENED, SeenEffectKind.DIALOG_CLOSED, SeenEffectKind.TOAST}
        return any(one.kind not in passing for one in self.effects)

    @property
    def own_effects(self) -> tuple[SeenEffect, ...]:
        """All effects since the goal, also those that were taken back later."""
        since = self._since
        return () if since is None else tuple(one for one in self.ledger if one.step >= since)

    @property
    def effects(self) -> tuple[SeenEffect, ...]:
        """The effects since the goal that stand: of one thing's state only the newest."""
        newest: dict[tuple[str, ...], SeenEffect] = {}
        for one in self.own_effects:
            is_valued = one.kind in _SUPERSEDED
            what = (one.kind, *one.place, one.object) if is_valued else (one.kind, str(one.number))
            newest[what] = one
        own = {one.number for one in newest.values()}
        items = {SeenEffectKind.ITEM_ADDED, SeenEffectKind.ITEM_REMOVED}
        return tuple(
            one
            for one in newest.values()
            # What came and went again is as it was.
            if not one.undone_by and not (one.kind in items and one.undoes in own)
        )

    @property
    def state(self) -> str:
        """Name what is known by now; the same name: nothing was done or seen since."""
        seen = self.last[1].fingerprint if self.last is not None else ""
        said = len(self.hints), len(self.answers), len(self.ledger), len(self.actions)
        return f"{said} {seen}"

    def screen_of(self, step: int) -> Observation | None:
        """Return the stored screen of a step; None: it has none, or an earlier goal's."""
        return next((seen for at, seen in reversed(self.seen) if at == step), None)

    @property
    def screens_since(self) -> list[StoredScreen]:
        """The screens that were seen since the goal."""
        since = self._since
        return [] if since is None else [one for one in self.screens if one.step >= since]

    def fold(self, msg: protocol.EventMsg) -> None:
        """Take in one stored event."""
        self._asked_for.fold(msg)
        match msg:
            case protocol.UserMessage(text=text, message_id=message_id, steer=steer, job_id=job_id):
                if steer:
                    self._hints[message_id] = text
                elif (
                    text.strip() != self.goal.strip()
                    or self.hints
                    or self._over
                    or (job_id and self._begun)
                ):
                    self._begin(text)
            case protocol.SteerEdited(message_id=message_id, text=text):
                if message_id in self._hints:
                    self._hints[message_id] = text
            case protocol.SteerWithdrawn(message_id=message_id):
                self._hints.pop(message_id, None)
            case protocol.SteerApplied(message_id=message_id):
                hint = self._hints.pop(message_id, "")
                if hint:
                    self.hints.append(hint)
                    self.refusals = self.misfits = 0
            case protocol.TaskStarted():
                if self._asked_for.goal:
                    self.ask_goal()
            case protocol.TaskComplete():
                self.refusals = self.misfits = 0
                self._over = True
            case protocol.ObservationRecorded(step=step, observation=seen):
                self._see(step, seen)
            case protocol.ToolCallRequested(call_id=call_id):
                self._begun = True
                self._calls[call_id] = msg
            case protocol.ToolCallFinished():
                self._finish(msg)
            case protocol.EffectsSeen(effects=effects):
                self.ledger = self.ledger.with_effects(effects)
            case protocol.RequestUserInput(question=question):
                self._asked[question.question_id] = question
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                self._answered(self._asked.pop(question_id, None), answer)
            case protocol.FactsUpdate(facts=facts):
                self.facts = facts
            case protocol.WheelActed():
                self.operator_acted = True
            case _:
                # Every other fact says nothing of whether the goal is met.
                return

    def ask_goal(self) -> None:
        """Judge by the session's goal anew, where something else was asked for or it was met."""
        again, self._asked_for.again = self._asked_for.again, False
        if again or self.goal.strip() != self._first_goal.strip():
            self._begin(self._first_goal)

    def _begin(self, goal: str) -> None:
        self.goal = goal
        self._over = False
        self.hints.clear()
        self.actions.clear()
        self.waits.clear()
        self._waited = None
        self.answers.clear()
        self.seen.clear()
        self.before = self._since = None
        self.operator_acted = False
        self.refusals = self.misfits = 0
        self.state_at_refusal = ""

    def _see(self, step: int, seen: Observation) -> None:
        if self._waited is not None:
            at, said = self._waited
            self.waits.append((at, f"{said} {seen.change or 'Nothing changed.'}"))
            self._waited = None
        self._since = step if self._since is None else self._since
        if not self.may_have_changed:
            self.before = (step, seen)
        self.last = (step, seen)
        if self.seen and self.seen[-1][0] == step:
            del self.seen[-1]
        self.seen.append(self.last)
        del self.seen[:-MAX_SCREENS]
        self.screens.append(stored_screen(step, seen))
        del self.screens[:-MAX_SCREENS]

    def _answered(self, question: Question | None, answer: str) -> None:
        if question is None:
            return
        if question.kind is not QuestionKind.APPROVAL:
            if answer and not question.secret:
                self.answers.append((question.text, answer))
            return
        if is_yes(answer):
            self._approved[question.call_id] = question.text

    def _finish(self, msg: protocol.ToolCallFinished) -> None:
        call = self._calls.pop(msg.call_id, None)
        if call is None or call.tool != "finish":
            self.came_to = msg.outcome
        if call is None:
            return
        if call.tool == "finish" and msg.outcome is ActionOutcome.FAILED:
            if FINISH_AGAIN in msg.text:
                self.refusals += 1
                self.state_at_refusal = self.state
            self.misfits += CORRECT_IT in msg.text
        if call.tool == "wait":
            self._waited = msg.step, msg.text
        if call.kind != "action":
            return
        done = PastAction(
            step=msg.step,
            tool=call.tool,
            label="" if call.element is None else call.element.label,
            arguments=call.arguments,
            outcome=msg.outcome,
            result=msg.text,
            approved=self._approved.pop(msg.call_id, ""),
            capability=call.capability,
        )
        self.actions.append(done)
        if done.result.startswith("{"):
            # What a service of the core replies is as good as a screen.
            self.screens.append(stored_reply(done.step, done.result))
