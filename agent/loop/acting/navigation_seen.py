"""Find the presses of a turn that did no more than open another page, and those that did more.

Pure: a fold of stored events. A press navigated if another page of the same app followed and no
effect of it was seen. That is no proof that it did nothing else, so besides whoever reads said that
it has no effect, or the page it was pressed on was seen again, unchanged.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent import protocol
from agent.loop.acting.acts import stored_acts
from agent.loop.effects.pages import page_key, page_of
from agent.records import (
    ActionOutcome,
    EffectVerb,
    Observation,
    QuestionKind,
    ReviewVerdict,
    SeenEffectKind,
)
from agent.safety.navigation.press_key import Navigated, PressKey, content_of, press_key

_OPENS = frozenset({SeenEffectKind.DIALOG_OPENED, SeenEffectKind.APPROVED})
"""What is seen where nothing but a page opens, or says nothing of what a press did."""


@dataclass(slots=True)
class _Press:
    key: PressKey
    screen: Observation
    call_id: str
    is_done: bool = False
    after: Observation | None = None
    is_read: bool = False
    """Whether a reader said that it has no effect."""
    is_back: bool = False
    """Whether its page was seen again as it was."""
    has_effect: bool = False


@dataclass(slots=True)
class _Fold:
    versions: Mapping[str, int]
    seen: Observation | None = None
    presses: list[_Press] = field(default_factory=list)

    def take(self, msg: protocol.EventMsg) -> None:
        match msg:
            case protocol.ObservationRecorded(observation=seen):
                self._see(seen)
            case protocol.ToolCallRequested(kind="action") if self.seen is not None:
                key = press_key(stored_acts(msg, self.seen), self.seen, self.versions)
                if key is not None:
                    self.presses.append(_Press(key, self.seen, msg.call_id))
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome):
                for press in self._of(call_id):
                    press.is_done = outcome is ActionOutcome.DONE
            case protocol.ActReviewed(call_id=call_id, review=review):
                for press in self._of(call_id):
                    allows = review.verdict is ReviewVerdict.ALLOW and not review.fault
                    press.is_read = allows and review.effect is None
                    press.has_effect |= review.effect is not None
            case protocol.RequestUserInput(question=asked):
                if asked.kind is QuestionKind.APPROVAL:
                    effect = asked.subject.effect if asked.subject is not None else None
                    for press in self._of(asked.call_id):
                        named = effect is not None and effect.verb is not EffectVerb.UNKNOWN
                        press.has_effect |= named
            case protocol.EffectsSeen(effects=effects):
                for one in effects:
                    for press in self._of(one.call_id):
                        press.has_effect |= one.kind not in _OPENS
            case _:
                # Nothing else says what a press does.
                return

    def _of(self, call_id: str) -> list[_Press]:
        return [press for press in self.presses if call_id and press.call_id == call_id]

    def _see(self, screen: Observation) -> None:
        for press in self.presses:
            if press.is_done and press.after is None:
                press.after = screen
            elif press.after is not None and not press.is_back:
                press.is_back = content_of(screen) == content_of(press.screen)
        self.seen = screen


def navigated(
    events: Iterable[protocol.Event], versions: Mapping[str, int]
) -> tuple[Navigated, ...]:
    """Return what the presses of one turn are shown to be; those that nothing is shown of are left
    out.

    Args:
        events: of the turn, in order.
        versions: the version code of each app of the phone.
    """
    fold = _Fold(versions)
    for event in events:
        fold.take(event.msg)
    found = []
    for press in fold.presses:
        if not press.is_done or press.after is None:
            continue
        if press.has_effect:
            found.append(Navigated(key=press.key, only=False))
        elif _is_another_page(press.screen, press.after) and (press.is_read or press.is_back):
            found.append(Navigated(key=press.key, only=True))
    return tuple(found)


def _is_another_page(before: Observation, after: Observation) -> bool:
    was = page_key(page_of(before.foreground, before.elements))
    now = page_key(page_of(after.foreground, after.elements))
    return was.package == now.package and was != now and not after.toast
