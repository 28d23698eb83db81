"""What a fallible model sees of its prompt, and what it believes of what it did.

Pure. Invariant: nothing is read but the messages of the request.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from agent.loop.conversation.told_changes import UNCHANGED
from agent.loop.signals.recover import SCROLL_BUDGET
from agent.models.model import Message, MessageKind, Role
from agent.models.pilot.reading import Item, PastAction, View

FORGETS_AFTER = 6  # Messages that a forgetful model keeps in mind beside its instructions and goal.
NARROW_WINDOW_CHARS = 5_500
"""What a narrow model keeps of the newest messages: six screens, or four beside thirty lines."""
_DONE = re.compile(r"^\[x\] (\d+)\. ", re.MULTILINE)
_TRACKER = "## Plan"
_SCREEN = "## Screen State"
_BANNED = re.compile(r"^Do not press again \(it led nowhere\): (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_PRESSES = frozenset({"click_element", "long_press_element"})
_NOT_SEEN = "FAILED: nothing of it was to be seen."


@dataclass(frozen=True)
class PromptView:
    view: View
    messages: Sequence[Message]

    @property
    def newest(self) -> str:
        """The newest result and screen."""
        return "\n".join(m.text for m in self.messages[-3:] if m.kind is not MessageKind.REPLY)

    @property
    def above(self) -> str:
        """What stands above the newest screen: where the work is, changes and warnings."""
        screens = (m.text for m in reversed(self.messages) if m.kind is MessageKind.OBSERVATION)
        return next(screens, "").partition(_SCREEN)[0]

    @property
    def last(self) -> PastAction | None:
        """The newest action."""
        return self.view.done[-1] if self.view.done else None

    @property
    def ruled_out(self) -> set[int]:
        """The elements that the prompt says are not to be pressed."""
        banned = _BANNED.search(self.above)
        return set(map(int, _NUMBER.findall(banned[1]))) if banned else set()

    @property
    def inert(self) -> list[Item]:
        """What is written on the screen and is no button."""
        return [item for item in self.view.items if item.kind == "text"]


def newest(messages: Sequence[Message]) -> list[Message]:
    """Return instructions, goal and the newest few messages."""
    lasting, rest = _parted(messages)
    return lasting + rest[-FORGETS_AFTER:]


def what_fits(messages: Sequence[Message]) -> list[Message]:
    """Return instructions, goal and the newest messages that a short context holds."""
    lasting, rest = _parted(messages)
    held, room = 0, NARROW_WINDOW_CHARS
    for message in reversed(rest):
        room -= len(message.text) + sum(len(c.arguments) for c in message.tool_calls)
        if room < 0:
            break
        held += 1
    return lasting + rest[len(rest) - max(held, 1) :]


def marked(messages: Sequence[Message]) -> int:
    """Count the steps that the newest observation's plan shows as done."""
    for message in reversed(messages):
        if message.kind is MessageKind.OBSERVATION and _TRACKER in message.text:
            return len(_DONE.findall(message.text))
    return 0


def shows_plan(messages: Sequence[Message]) -> bool:
    """Return whether the newest messages show a plan."""
    return any(_TRACKER in message.text for message in messages[-3:])


def by_results(done: Sequence[PastAction]) -> list[PastAction]:
    """Take back what results warn of, as one who goes by results would."""
    return [
        replace(act, result=_NOT_SEEN)
        if act.tool in _PRESSES and act.result.startswith("WARNING")
        else act
        for act in done
    ]


def by_changes(done: Sequence[PastAction], messages: Sequence[Message]) -> list[PastAction]:
    """Take back what the screens after it show no change of, as one who goes by changes would."""
    return [
        replace(act, result=_NOT_SEEN) if act.tool in _PRESSES and not changed else act
        for act, changed in zip_longest(done, _changed(messages)[: len(done)], fillvalue=True)
        if isinstance(act, PastAction)
    ]


def without_aimless(done: Sequence[PastAction]) -> list[PastAction]:
    """Leave out what was scrolled before a warning: who did not look has not looked there."""
    kept: list[PastAction] = []
    run = 0
    for act in done:
        if act.tool == "scroll":
            run += 1
        elif act.tool in _PRESSES:
            run = 0
        if act.tool != "scroll" or run > SCROLL_BUDGET:
            kept.append(act)
    return kept


def _changed(messages: Sequence[Message]) -> list[bool]:
    """Yield for each result since the goal whether the screen after it is another."""
    flags: list[bool] = []
    for message in messages:
        match message.kind:
            case MessageKind.GOAL:
                flags.clear()
            case MessageKind.RESULT if message.role is Role.TOOL:
                flags.append(UNCHANGED not in message.text)
            case MessageKind.OBSERVATION if flags:
                flags[-1] &= "NO_CHANGE" not in message.text.partition(_SCREEN)[0]
            case _:
                pass
    return flags


def _parted(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    lasting = [m for m in messages if m.kind in (MessageKind.INSTRUCTIONS, MessageKind.GOAL)]
    return lasting, [m for m in messages if m not in lasting]
