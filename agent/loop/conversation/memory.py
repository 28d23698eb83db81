"""What a session remembers: a fold of its stored events into the conversation a model is shown.

The running turn folds the events it has just stored, a resumed one folds the stored past: both get
the same memory. Invariants: messages are only ever appended, or an old screen shortened by
`agent.loop.conversation.masking`; every tool call has a result, which says so when the outcome is
unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from agent import protocol, records
from agent.knowledge.card import Card
from agent.loop.conversation import prompts
from agent.loop.conversation.brief import brief_of, place_of
from agent.loop.conversation.masking import estimate_tokens, fit, newest_only
from agent.loop.conversation.operator_words import answer_line
from agent.loop.conversation.told_changes import untold_change
from agent.loop.conversation.turn_prompt import TurnPrompt
from agent.loop.screen.changes import describe_change, picture_differs
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.login_wall import login_warning
from agent.loop.screen.support_phase import is_support_goal
from agent.loop.screen.verify import UNSEEN
from agent.loop.screen.wrong_screen import is_searching, misleads
from agent.loop.signals.equal_rows import equal_rows_warning
from agent.loop.signals.recover import RecentActions, wrong_app
from agent.loop_features import NOTHING, Pattern, Without
from agent.models.model import Message, MessageKind, Role, ToolCall
from agent.safety.approval import is_yes
from agent.safety.scope import is_neutral
from agent.state.effect_text import HEADING as EFFECTS_HEADING
from agent.state.effect_text import ledger_lines
from agent.tools.foreign import wire_name
from agent.tools.lenient_json import NotJson, read_json
from agent.tools.registry import TOOLS, may_change_screen, schemas, unknown_tool
from agent.tools.tool_groups import ToolGroup, groups_for
from agent.tools.written_calls import written_calls

_TALK = frozenset({"finish", "ask_user", "update_plan", "remember", "more_tools"})
"""Tools whose failure says nothing of whether there is a way on."""
_WHICH = frozenset({"element", "label", "expected"})
"""Arguments that name the element, or do nothing."""


@dataclass(slots=True)
class Memory:
    """One session's memory.

    Args:
        goal: what the session was created for.
        apps: what is installed, for the model to choose from.
        target: the one app the session belongs to; empty when it may use any.
        required: where that app has to be in the end, for a session that was delegated.
        card: what is known of the app that the goal is about.
        requires: what has to be so beside the goal.
        without: patterns that are switched off.
    """

    goal: str
    apps: Sequence[records.AppInfo] = ()
    target: str = ""
    required: str = ""
    card: Card | None = None
    requires: tuple[str, ...] = ()
    without: Without = NOTHING
    messages: list[Message] = field(default_factory=list)
    plan: tuple[records.PlanItem, ...] = ()
    facts: tuple[str, ...] = ()
    """What the session asked to remember."""
    ledger: records.Ledger = field(default_factory=records.Ledger)
    """What the session was seen to have changed."""
    groups: frozenset[ToolGroup] = frozenset()
    """Tools beyond those for the phone that it is offered."""
    budget: int = 0
    """Tokens that the conversation may have before old screens are shortened harder; 0: any."""
    phone: str = ""
    """Date, time and language of the phone when the turn began."""
    done: set[str] = field(default_factory=set)
    """Items of the plan that were completed since the operator last said what is to be done."""
    trail: RecentActions = field(default_factory=RecentActions)
    last_seen: records.Observation | None = None
    """The newest observation of all, to compare the next one with."""
    covered: records.Observation | None = None
    """What a dialog on the newest screen stands over, where it was seen."""
    pending: protocol.ToolCallRequested | None = None
    """A call without a result: its outcome is unknown."""
    overtaken: bool = False
    """The operator has asked for something else since that call was made."""
    step: int = 0
    """The number of the newest step."""
    total: int = 0
    """Steps, counted or not, since the operator last gave a goal or a new life."""
    reasoning: tuple[dict[str, Any], ...] = ()
    """What the reply that is about to be folded was reasoned with; no event holds it."""
    _said: str = ""
    _acted: bool = False
    _scrolled: bool = False
    _told: str = ""  # The result of what was done since the newest screen.
    _places: dict[str, records.Observation] = field(default_factory=dict)
    """The newest screen of each page that the conversation tells of."""
    _hints: dict[str, protocol.UserMessage] = field(default_factory=dict)
    _denied: set[str] = field(default_factory=set)  # The call that the operator said no to.
    _asked: dict[str, records.Question] = field(default_factory=dict)
    _orders: list[str] = field(default_factory=list)
    _moved_on: bool = False  # Something else was said since the newest order, or its work is over.
    _words: list[str] = field(default_factory=list)
    _not_begun: bool = False  # No step was made since the newest order.
    _asked_for: TurnPrompt = field(default_factory=TurnPrompt)
    _generation: int = 0
    _deferred: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.trail.without = self.without
        self._add(Role.SYSTEM, MessageKind.INSTRUCTIONS, prompts.INSTRUCTIONS)
        self._add(Role.USER, MessageKind.GOAL, self._goal_text())
        self._orders.append(self.goal.strip())
        self._words.append(self.goal)
        self.groups = groups_for(self.goal)

    def know(self, apps: Sequence[records.AppInfo], phone: str = "") -> None:
        """Learn what is installed and where the phone is, before anything else is remembered."""
        self.apps, self.phone = apps, phone
        self.messages[1] = replace(self.messages[1], text=self._goal_text())

    def _goal_text(self) -> str:
        return prompts.goal_text(
            self.goal,
            self.apps,
            target=self.target,
            required=self.required,
            card=self.card,
            phone=self.phone,
            requires=self.requires,
        )

    def fold(self, msg: protocol.EventMsg) -> None:
        """Take in one stored event; events that a model is not told of change nothing."""
        self._asked_for.fold(msg)
        match msg:
            case protocol.UserMessage(text=text, message_id=message_id, steer=steer, job_id=job_id):
                if steer:
                    self._hints[message_id] = msg
                else:
                    self.overtaken = self.pending is not None
                    # A job asks for the same each time, and wants it done each time.
                    again = self._moved_on or bool(job_id and self.step)
                    self.order(text, again=again, requires=msg.requires)
            case protocol.SteerEdited(message_id=message_id, text=text):
                if message_id in self._hints:
                    self._hints[message_id] = replace(self._hints[message_id], text=text)
            case protocol.SteerWithdrawn(message_id=message_id):
                self._hints.pop(message_id, None)
            case protocol.HistoryCompacted(text=text):
                # Whatever call was open is told of in the summary.
                self.pending = None
                self._deferred.clear()
                self._places.clear()
                # A screen that nothing was done on yet is not the past.
                newest = [m for m in self.messages[-1:] if m.kind is MessageKind.OBSERVATION]
                del self.messages[2:]
                self._add(Role.USER, MessageKind.SUMMARY, text)
                self.messages += newest
            case protocol.SteerApplied(message_id=message_id):
                hint = self._hints.pop(message_id, None)
                self.trail.troubled = 0
                self.done.clear()
                if hint is not None and hint.text:
                    self._steer(hint)
            case protocol.RequestUserInput(question=question):
                self._asked[question.question_id] = question
            case protocol.QuestionAnswered(question_id=question_id, answer=answer):
                # The model reads it as the call's result; a compaction keeps it as it was said.
                asked = self._asked.pop(question_id, None)
                if asked is not None and asked.kind is records.QuestionKind.APPROVAL:
                    self._denied = {asked.call_id} if not is_yes(answer) else set()
                if asked is not None and (line := answer_line(asked, answer)):
                    self._words.append(line)
            case protocol.SessionContinued(generation=generation):
                if generation > self._generation:
                    self._generation = generation
                    self._moved_on = True
                    if self._orders[-1] != self._orders[0]:
                        # It is the goal again that is asked for, not what was asked for last.
                        self.overtaken = self.pending is not None
                    self.total = 0
            case protocol.TaskStarted():
                # Before what that turn did: asked for after it, all of it would be done anew.
                if self._asked_for.goal:
                    self.ask_goal()
            case protocol.TaskComplete():
                self.total = 0
                self._moved_on = True
            case protocol.StepStarted(step=step):
                self.step = max(self.step, step)
                self._said = ""
                self._not_begun = False
            case protocol.ObservationRecorded(observation=observation):
                self._observe(observation)
            case protocol.AgentMessage(text=text):
                self._said = text
            case protocol.ToolCallRequested():
                self._request(msg)
            case protocol.ToolCallFinished():
                self._finish(msg)
            case protocol.PlanUpdate(plan=plan):
                self.plan = plan
                self.done |= {i.step for i in plan if i.status is records.PlanStatus.COMPLETED}
            case protocol.FactsUpdate(facts=facts):
                self.facts = facts
            case protocol.EffectsSeen(effects=effects):
                self.ledger = self.ledger.with_effects(effects)
            case protocol.StepCompleted():
                self.total += 1
                if self._said:
                    # A step that ended with words only: `_request` would have taken them.
                    self._add(Role.ASSISTANT, MessageKind.REPLY, self._said)
                    if Pattern.NO_TOOL not in self.without:
                        self._add(Role.USER, MessageKind.RESULT, _no_tool(self._said))
                self._said = ""
            case _:
                # Every other fact is for operators, not for the model.
                return

    def _steer(self, hint: protocol.UserMessage) -> None:
        """Take in a hint; of what was done at the wheel the newest alone is told."""
        if hint.speaker is not records.Speaker.PRODUCT:
            self._moved_on = True
            self._words.append(hint.text)
            self.groups |= groups_for(hint.text)
            self._add(Role.USER, MessageKind.STEER, prompts.steering_text(hint.text))
            return
        if hint.said:
            self._moved_on = True
            self._words.append(hint.said)
            self.groups |= groups_for(hint.said)
            self._add(Role.USER, MessageKind.STEER, prompts.steering_text(hint.said))
        # Once for each time it was taken, it would crowd out what the session itself did.
        self.messages = [m for m in self.messages if m.kind is not MessageKind.WHEEL]
        self._add(Role.USER, MessageKind.WHEEL, prompts.operator_text(hint.text))

    def ask_goal(self) -> None:
        """Take in that the session's goal is asked for, where something else was or it was met."""
        again, self._asked_for.again = self._asked_for.again, False
        self.order(self.goal, again=again, met=again)

    def order(
        self, text: str, *, again: bool = False, met: bool = False, requires: Sequence[str] = ()
    ) -> None:
        """Take in what the operator asks for.

        Args:
            again: it is new also where it is what was asked for last.
            met: it was done before, and is to be done anew.
            requires: what has to be so beside it.
        """
        if (self._orders[-1] == text.strip() and not again) or not text.strip():
            return
        self._orders.append(text.strip())
        self._moved_on = False
        self._words.append(text)
        self.total = 0
        self.plan = ()
        self.done.clear()
        self.groups |= groups_for(text)
        self._not_begun = True
        said = prompts.goal_again_text(text) if met else prompts.new_goal_text(text, requires)
        self._add(Role.USER, MessageKind.GOAL, said)

    def other_app_warning(self, front: records.Foreground) -> str:
        """Warn of another app in front than the session's own."""
        if Pattern.WRONG_APP in self.without:
            return ""
        return wrong_app(front.package, self.target, front.activity)

    @property
    def has_acted(self) -> bool:
        """Whether something was done since the newest observation that the screen may show."""
        return self._acted

    def warnings(self, seen: records.Observation) -> tuple[str, ...]:
        """Return what the model should know with a screen that is about to be stored."""
        trail = self.trail.copy()
        self._follow_support(trail, seen)
        trail.saw(_mark(seen), after_action=self._acted)
        asked_in = login_warning(self.goal, seen.elements, self.step)
        which = equal_rows_warning(self.words, seen.elements)
        return (*trail.warnings(), *filter(None, (asked_in, which)))

    def _follow_support(self, trail: RecentActions, seen: records.Observation) -> None:
        """Follow a support case on its way, from the screens that it stored."""
        if not is_support_goal(self.goal) or is_neutral(seen.foreground.package):
            return
        searching = is_searching(seen.elements)
        searched = trail.searched + 1 if searching else 0
        trail.looked_for_support(
            found=not searching, misleads=searching and misleads(seen, searched)
        )

    def resumed(self) -> None:
        """Tell the model that the work had stopped, unless there was none for the newest order."""
        if not self._not_begun:
            self._add(Role.USER, MessageKind.STEER, prompts.RESUMED)

    def show(self, image: bytes, media_type: str) -> None:
        """Add the picture to the newest observation; pictures are not remembered beyond it."""
        newest = self.messages[-1]
        if newest.kind is MessageKind.OBSERVATION:
            self.messages[-1] = replace(newest, image=image, image_type=media_type)

    def conversation(self) -> tuple[Message, ...]:
        """Return the whole conversation, old screens shortened for good.

        What was seen to have changed comes last and is not kept: what the next request begins with
        stays the same, word for word.
        """
        if Pattern.MASKING not in self.without:
            self.messages = fit(self.messages, self.budget)
        if Pattern.CONVERSATION in self.without:
            return (*newest_only(self.messages), *self._effects())
        return (*self.messages, *self._effects())

    def _effects(self) -> tuple[Message, ...]:
        lines = ledger_lines(self.ledger)
        if not lines:
            return ()
        text = "\n".join((EFFECTS_HEADING, *lines))
        return (Message(role=Role.USER, kind=MessageKind.EFFECTS, text=text),)

    @property
    def newest_order(self) -> str:
        """What the operator asked for last: the goal, or another since."""
        return self._orders[-1]

    @property
    def words(self) -> tuple[str, ...]:
        """What the operator asked for and said, oldest first, each once."""
        return tuple(dict.fromkeys(map(prompts.operator_text, self._words)))

    @property
    def can_shorten(self) -> bool:
        """Whether anything beside instructions, goal and the newest screen is remembered."""
        return any(m.kind is MessageKind.REPLY for m in self.messages)

    @property
    def past_tokens(self) -> int:
        """The estimated tokens of what a compaction would put a summary in the place of."""
        newest = self.messages[-1].kind is MessageKind.OBSERVATION
        return estimate_tokens(self.messages[2 : -1 if newest else None])

    @property
    def tokens(self) -> int:
        """The estimated tokens of the conversation as it stands, pictures left out."""
        return estimate_tokens(self.messages)

    def change_to(self, observation: records.Observation) -> str:
        """Return how a screen differs from the newest one."""
        return describe_change(
            self.last_seen, observation, covered=self.covered, scrolled=self._scrolled
        )

    def change_beyond_result(self, observation: records.Observation) -> str:
        """Return what of that difference the newest result leaves untold."""
        if self.last_seen is None or not self._told or Pattern.CONVERSATION in self.without:
            return self.change_to(observation)
        return untold_change(
            self.last_seen, observation, self._told, covered=self.covered, scrolled=self._scrolled
        )

    def _observe(self, observation: records.Observation) -> None:
        if dialog_title(observation.elements) is None:
            self.covered = None
        elif self.covered is None:
            self.covered = self.last_seen
        self.last_seen, self._scrolled, self._told = observation, False, ""
        package = observation.foreground.package
        if self.other_app_warning(observation.foreground):
            self.trail.on_other_app(package)
        else:
            self.trail.strays = 0
        self._follow_support(self.trail, observation)
        self.trail.saw(_mark(observation), after_action=self._acted)
        self._acted = False
        message = Message(
            role=Role.USER,
            kind=MessageKind.OBSERVATION,
            text=observation.screen_text,
            brief=brief_of(observation, self._places.get(place_of(observation))),
        )
        self._places[place_of(observation)] = observation
        (self.messages if self.pending is None else self._deferred).append(message)

    def _request(self, msg: protocol.ToolCallRequested) -> None:
        if not msg.prompt_digest and self._is_between():
            # No model was shown the screen between two calls of one answer.
            self.messages.pop()
        call = ToolCall(call_id=msg.call_id, name=wire_name(msg.tool), arguments=msg.arguments)
        self.messages.append(
            Message(
                role=Role.ASSISTANT,
                kind=MessageKind.REPLY,
                text=self._said,
                tool_calls=(call,),
                reasoning=self.reasoning,
            )
        )
        self._said, self.reasoning = "", ()
        self.pending = msg
        self.overtaken = False

    def _is_between(self) -> bool:
        """Return whether the newest message is a screen right after a result."""
        kinds = [message.kind for message in self.messages[-2:]]
        return kinds == [MessageKind.RESULT, MessageKind.OBSERVATION]

    def _finish(self, msg: protocol.ToolCallFinished) -> None:
        call = self.pending
        if call is None or call.call_id != msg.call_id:
            return
        self.messages.append(
            Message(
                role=Role.TOOL,
                kind=MessageKind.RESULT,
                text=msg.text,
                call_id=msg.call_id,
                failed=msg.outcome is records.ActionOutcome.FAILED,
            )
        )
        self.pending = None
        self.messages += self._deferred
        self._deferred.clear()
        if call.tool == "more_tools" and msg.outcome is records.ActionOutcome.DONE:
            self.groups |= {group for group in ToolGroup if f'"{group.value}"' in call.arguments}
        if call.tool == "finish":
            # A claim that was refused opens again what the model had marked too early.
            self.done.clear()
        if msg.outcome is records.ActionOutcome.FAILED and call.tool not in _TALK:
            # The operator who says no is there and knows; only a second try is a sign of trouble.
            if call.call_id in self._denied:
                self.trail.troubled = 0
            else:
                self.trail.on_refused()
        done = msg.outcome is not records.ActionOutcome.FAILED
        if done and may_change_screen(call.tool, call.arguments):
            # Of a key that shows nothing, an unchanged screen says nothing either.
            self._acted = UNSEEN not in msg.text
            self._scrolled, self._told = call.tool == "scroll", msg.text
            self._follow_presses(call)
            self.trail.did(
                action_key(call),
                scroll=call.tool == "scroll",
                changed=not msg.text.startswith("WARNING"),
            )

    def _follow_presses(self, call: protocol.ToolCallRequested) -> None:
        if call.tool == "press_button" and '"BACK"' in call.arguments.upper():
            self.trail.went_back()
        else:
            pressed = call.tool == "click_element" and call.element is not None
            self.trail.pressed(call.element.key if pressed and call.element else "")

    def _add(self, role: Role, kind: MessageKind, text: str) -> None:
        message = Message(role=role, kind=kind, text=text)
        # An endpoint wants a call's result right after the call.
        (self.messages if self.pending is None else self._deferred).append(message)


def _no_tool(said: str) -> str:
    """Return what a model that only talked is told: what is missing, why its call was not read."""
    parameters = {tool.name: tuple(tool.parameters.get("properties", ())) for tool in schemas()}
    written = written_calls(said, parameters)
    if written.several:
        return prompts.SEVERAL_WRITTEN
    if written.unknown:
        offered = [name for name, tool in TOOLS.items() if tool.tool_group is None]
        return f"{prompts.NO_TOOL} In what you wrote, {unknown_tool(written.unknown, offered)}"
    return prompts.NO_TOOL


def _mark(seen: records.Observation) -> str:
    """Name what a screen looks like: a toast or another picture is news, whatever the tree says."""
    if seen.toast or picture_differs(seen):
        return f"{seen.fingerprint} {seen.ended_ms}"
    return seen.fingerprint


def action_key(call: protocol.ToolCallRequested) -> str:
    """Name an action so that the same one can be recognised: by its element, never its number."""
    if call.element is None or call.tool == "type_text":
        return f"{call.tool} {call.arguments}"
    try:
        given = read_json(call.arguments)
    except NotJson:
        given = {}
    # What is done to it counts too: a scroll up is not the scroll down of the same list.
    how = {k: v for k, v in given.items() if k not in _WHICH} if isinstance(given, dict) else {}
    said = " ".join(f"{name}={value}" for name, value in sorted(how.items()))
    return f"{call.tool} {call.element.key} {said}".rstrip()
