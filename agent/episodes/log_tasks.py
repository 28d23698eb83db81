"""Tasks that an app's log pays for, on a phone: their starting steps, and reading what was logged.

Invariants: a step that does not succeed in its tries is an error that names it; a line of the log
is counted once.
"""

import re
from shlex import quote

from agent.episodes.phone import EpisodePhone
from agent.errors import DeviceError
from agent.exercises.log_task import Gain, LogRules, LogScore, SetupStep

LOOK_S = 0.2
MOST_WAIT_S = 120.0
_LINE = re.compile(r"\s*\d+\.\d+\s+\d+\s+\d+\s+\S\s+[^:]*: (.*)")


async def set_up(phone: EpisodePhone, steps: tuple[SetupStep, ...]) -> None:
    """Carry starting steps out. Raises DeviceError, naming the one that failed."""
    for step in steps:
        why = ""
        for _ in range(step.tries):
            why = await _failure_of(phone, step)
            if not why:
                break
        else:
            raise DeviceError(
                f"{step.where} failed {step.tries} times on {phone.serial}: {why}",
                "Correct the task's file, or install the app on the phone.",
            )


async def _failure_of(phone: EpisodePhone, step: SetupStep) -> str:
    """Do a step once; return why it failed, empty for success."""
    if step.line:
        status, said = await phone.run(step.line)
        if status:
            return f"`{step.line[:200]}` ended with {status}: {said.strip()[:200]}"
    if step.pause_s:
        await phone.pause(min(step.pause_s, MOST_WAIT_S))
    until_s = phone.now_s() + min(step.within_s, MOST_WAIT_S)
    while True:
        why = await _missing(phone, step)
        if not why or phone.now_s() >= until_s:
            return why
        await phone.pause(LOOK_S)


async def _missing(phone: EpisodePhone, step: SetupStep) -> str:
    if step.shown:
        shown = await phone.front()
        if component(step.shown) != shown:
            return f"{step.shown} is not in front, but {'/'.join(shown)}"
    if step.installed:
        status, _ = await phone.run(f"pm path {quote(step.installed)}")
        if status:
            return f"{step.installed} is not installed"
    return ""


def component(said: str) -> tuple[str, str]:
    """Return package and full class of a component such as `org.app/.Main`."""
    package, _, name = said.partition("/")
    return package, package + name if name.startswith(".") else name


class LogTail:
    """What a phone logs during one episode.

    Args:
        phone: with its starting state.
        rules: of the task.
    """

    def __init__(self, phone: EpisodePhone, rules: LogRules) -> None:
        self._phone = phone
        self._rules = rules
        self._score = LogScore(rules)
        self._seen: list[str] = []
        self._began_s = 0.0
        # `*:S`: nothing but the tags that were asked for.
        tags = "".join(f" {quote(tag)}:V" for tag in rules.filters)
        self._line = f"logcat -d -v epoch{tags} '*:S'" if tags else "logcat -d -v epoch"

    async def begin(self) -> None:
        """Forget what was logged before. Raises DeviceError."""
        await self._phone.run("logcat -b all -c")
        self._began_s = self._phone.now_s()

    async def gained(self) -> Gain:
        """Return what was logged since the last call, as the rules count it. Raises DeviceError."""
        _, said = await self._phone.run(self._line)
        found = [one for one in map(_LINE.fullmatch, said.splitlines()) if one is not None]
        lines = [one[0] for one in found]
        # Whole lines, with their time: where the ring has dropped them, all that is left is new.
        before, self._seen = self._seen, lines
        kept = before[before.index(lines[0]) :] if lines and lines[0] in before else []
        start = len(kept) if lines[: len(kept)] == kept else 0
        return self._score.take(one[1] for one in found[start:])

    def why_over(self, front: tuple[str, str]) -> str:
        """Return why the episode is over for another reason than its log; empty while it is not."""
        rules = self._rules
        if rules.activity and component(rules.activity) != front:
            return f"{rules.activity} is no longer in front."
        if rules.max_s and self._phone.now_s() - self._began_s > rules.max_s:
            return f"The task's {rules.max_s:g} s are over."
        return ""
