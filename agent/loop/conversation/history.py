"""What happened in a session, in lines, for who has to sum it up: screens whole, actions in short.

Pure. Invariants: it starts anew with each compaction, whose text comes first; it never grows beyond
its bound, and what it loses first is the oldest; every action keeps its line.
"""

from collections import deque
from collections.abc import Iterable

from agent import protocol
from agent.loop.conversation.brief import brief_of
from agent.loop.conversation.trace import call_line, line_of
from agent.text import one_line

MAX_CHARS = 400_000  # Of lines that are kept: the text of one to two hundred screens.
_MAX_TRACES = 2000
_HEADING = "## Screen State\n"


class HistoryLines:
    """The lines of one session, oldest first."""

    def __init__(self, msgs: Iterable[protocol.EventMsg] = ()) -> None:
        self.summary = ""
        """What an earlier compaction left."""
        self.traces: deque[str] = deque(maxlen=_MAX_TRACES)
        self._lines: deque[tuple[str, str]] = deque()
        self._chars = 0
        self._called: dict[str, protocol.ToolCallRequested] = {}
        self._shown = ""
        for msg in msgs:
            self.take(msg)

    def take(self, msg: protocol.EventMsg) -> None:
        match msg:
            case protocol.HistoryCompacted(text=text):
                self.summary = text
                self._lines.clear()
                self._chars, self._shown = 0, ""
                return
            case protocol.ObservationRecorded(step=step, observation=seen):
                _, _, screen = seen.screen_text.partition(_HEADING)
                if screen and screen != self._shown:
                    self._shown = screen
                    whole = f"step {step}: the screen:\n{screen}"
                    self._add(whole, f"step {step}: the screen: {brief_of(seen)}")
                    return
            case protocol.ToolCallRequested() as call:
                self._called[call.call_id] = call
            case protocol.ToolCallFinished(call_id=call_id, outcome=outcome, text=text):
                done = self._called.pop(call_id, None)
                if done is not None and done.kind == "action":
                    said = f"{call_line(done)} -> {outcome.value}: {one_line(text, 200)}"
                    self.traces.append(said)
            case _:
                pass
        line = line_of(msg)
        if line:
            self._add(line, line)

    def open_calls(self) -> tuple[str, ...]:
        """Return the line of each action whose outcome is not known."""
        actions = (call for call in self._called.values() if call.kind == "action")
        return tuple(f"{call_line(call)} -> unknown" for call in actions)

    def lines(self, chars: int) -> tuple[str, ...]:
        """Return what fits, oldest first: whole screens as long as there is room, then short ones.

        Args:
            chars: the most characters of all lines together.
        """
        kept: list[str] = []
        left = chars
        for whole, short in reversed(self._lines):
            line = whole if len(whole) <= left * 0.6 else short
            left -= len(line) + 1
            if left < 0:
                kept.append(f"({len(self._lines) - len(kept)} earlier lines are left out)")
                break
            kept.append(line)
        return tuple(reversed(kept))

    def _add(self, whole: str, short: str) -> None:
        self._lines.append((whole, short))
        self._chars += len(whole)
        while self._chars > MAX_CHARS and len(self._lines) > 1:
            self._chars -= len(self._lines.popleft()[0])
