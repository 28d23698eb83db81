"""The calls of an answer after its first: done in order, until one brings a surprise.

A form needs one answer instead of one for each field. Each call is a step: it is judged, recorded
and verified on the screen of its moment, like any other. Invariants: a call follows only one that
was done as expected; the app, its page and its dialog are those that the model saw, though a
keyboard may have moved them; the element is the one that it meant, whatever its number is now. The
result before a call that is left out says so; if the screen changes only after that result, the
model is asked again and sees the new screen.
"""

import json
from dataclasses import dataclass
from dataclasses import replace as with_fields

from msgspec.structs import replace

from agent.loop.conversation.model_call import BEFORE_OTHERS, CleanReply
from agent.loop.screen.changes import PICTURE_ONLY
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.matching import pairs
from agent.models.model import ToolCall
from agent.records import ActionOutcome, Element, Observation
from agent.text import counted
from agent.tools.arguments import NUMBERS, element_number

_ON_ANY_SCREEN = frozenset({"launch_app", "open_link"})
"""Tools that do the same whatever the screen shows."""
_MAY_FOLLOW = BEFORE_OTHERS | {
    *("click_element", "long_press_element", "type_text", "press_button", "press_keys"),
    *("scroll", "wait", "clipboard"),
}
"""Tools that may follow an act. The others ask for a look at its result first."""


@dataclass(slots=True)
class FollowingCalls:
    """What is left of the newest answer."""

    _answered: Observation | None = None
    """The screen that the answer was about."""
    _rest: CleanReply | None = None
    _acted: bool = False
    """Whether a call of the answer has changed the screen, as it was meant to."""

    def begin(self, screen: Observation) -> None:
        """Begin an answer that was given about this screen."""
        self._answered, self._rest, self._acted = screen, None, False

    def settle(
        self,
        thought: CleanReply,
        call: str,
        *,
        outcome: ActionOutcome,
        text: str,
        asked: bool,
        screen: Observation | None,
    ) -> str:
        """Decide what becomes of the calls after one that has its result.

        Args:
            thought: the answer, from this call on.
            call: the name of the tool that was called.
            outcome, text: its result.
            asked: whether the operator was asked before it was done.
            screen: the newest one; None where none is known.

        Returns:
            What to add to the result; empty if the next call follows, or there is none.
        """
        self._rest = rest = thought.rest
        self._acted = self._acted or call not in BEFORE_OTHERS
        if rest is None or rest.call is None:
            return ""
        why = self._surprise(call, rest.call, outcome, text, asked=asked, screen=screen)
        if not why:
            return ""
        self._rest = None
        left = counted(thought.calls_after, "other call was", "other calls were")
        return f" Your {left} not done: {why}."

    def take(self, screen: Observation) -> CleanReply | None:
        """Return the next call as it is to be made on this screen; None where there is none."""
        rest, self._rest = self._rest, None
        if rest is None or rest.call is None:
            return None
        call = self._on(rest.call, screen)
        return None if call is None else with_fields(rest, call=call)

    def _surprise(
        self,
        call: str,
        following: ToolCall,
        outcome: ActionOutcome,
        text: str,
        *,
        asked: bool,
        screen: Observation | None,
    ) -> str:
        """Return why the next call does not follow; empty if it does."""
        if call not in BEFORE_OTHERS:
            if outcome is not ActionOutcome.DONE or text.startswith("WARNING"):
                return "the one before it did not do what was expected"
            if PICTURE_ONLY.partition(": ")[2] in text:
                return "only the picture shows what it did"
            if asked:
                return "the operator was asked meanwhile"
            if following.name not in _MAY_FOLLOW:
                return f"look at the screen before you call {following.name}"
        if screen is not None and self._on(following, screen) is None:
            return "the screen is another one now"
        return ""

    def _on(self, call: ToolCall, screen: Observation) -> ToolCall | None:
        """Return a call with the number that its element has on a screen; None where it is gone."""
        before = self._answered
        if before is None:
            return None
        if call.name in _ON_ANY_SCREEN or call.name in BEFORE_OTHERS:
            return call
        if not _is_same_place(before, screen):
            return None
        try:
            said = json.loads(call.arguments or "{}")
        except ValueError:
            return call
        name = next((one for one in NUMBERS if said.get(one) is not None), "")
        number = element_number(said[name]) if name else None
        if number is None:
            # Named by its label, which is looked up on the screen, or no element at all.
            return call
        if not self._acted and _unmarked(before) != _unmarked(screen):
            # Nothing was done yet, so whatever changed is news to the model.
            return None
        meant = next((one for one in before.elements if one.number == number), None)
        matched = pairs(before.elements, screen.elements)
        same = next((now for was, now in matched if was is meant), None)
        if meant is None or same is None or same.label != meant.label:
            return None
        return replace(call, arguments=json.dumps({**said, name: same.number}))


def _unmarked(screen: Observation) -> list[Element]:
    """Return a screen's elements without the marks of what was new when it was looked at."""
    return [replace(e, is_new=False) if e.is_new else e for e in screen.elements]


def _is_same_place(before: Observation, after: Observation) -> bool:
    """Return whether a screen is the page, and the dialog, of another one."""
    was, front = before.foreground, after.foreground
    if (was.package, was.activity) != (front.package, front.activity):
        return False
    had, has = dialog_title(before.elements), dialog_title(after.elements)
    if had == has:
        return True
    if had is None:
        # A dialog has opened.
        return False
    # A dialog that a keyboard moved may be read by another title, or as a page: its parts remain.
    return 2 * len(pairs(before.elements, after.elements)) > len(before.elements)
