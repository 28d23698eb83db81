"""The form of the Jobs screen: a few lines that make a job, a watcher or a commitment.

Not the lists. Invariant: what cannot be read is said by its field, and nothing that was typed is
lost before it is stored.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from agent.errors import UsageError
from agent.protocol import CommitmentCreate, JobCreate, JobEdit, Op, WatcherCreate
from agent.records import Evaluator, Job, WatcherType
from agent.text import one_line
from console.moments import duration_ms, when_ms
from console.screens.jobs_lists import Tab
from widgets.job_rows import repeat
from widgets.lines import PartsLine

_TITLE_CHARS = 60
_CRON = re.compile(r"\S+(\s+\S+){4,5}")
_FROM = re.compile(r"(?:a )?messages? from (.+)", re.IGNORECASE)
_CALLS = re.compile(r"(?:a )?calls?(?: from (.+))?", re.IGNORECASE)
_NOTIFICATIONS = re.compile(r"notifications?(?: of| from)?(?: ([\w.]+))?", re.IGNORECASE)


class Field(NamedTuple):
    """One line of a form."""

    name: str
    label: str
    hint: str


FORMS: dict[Tab, tuple[Field, ...]] = {
    Tab.JOBS: (
        Field("prompt", "what to do", "Write what an agent should do"),
        Field("first", "first run", "10m, 18:30 or 2026-01-31T08:00; empty: in 15 s"),
        Field("every", "every", "30m, 1d or a cron like 30 7 * * 1-5; empty: once"),
    ),
    Tab.WATCHERS: (
        Field("look", "look at", "notifications, messages from Ana, screen, https://… or 18:30"),
        Field("words", "words", "what it must say, parted by commas; empty: anything"),
        Field("react", "then do", "what an agent should do; empty: only tell me"),
    ),
    Tab.COMMITMENTS: (
        Field("promise", "what", "Write what was promised"),
        Field("due", "due", "10m, 18:30 or 2026-01-31T08:00; empty: no time"),
    ),
}


class JobForm(Vertical):
    """The form, of one list at a time."""

    class Written(Message):
        """The operator has filled the form in."""

        def __init__(self, op: Op) -> None:
            super().__init__()
            self.op = op

    class Refused(Message):
        """A field cannot be read."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._tab = Tab.JOBS
        self._edited: Job | None = None

    def compose(self) -> ComposeResult:
        for tab, fields in FORMS.items():
            with Vertical(id=f"form-{tab.value}"):
                for field in fields:
                    with Horizontal():
                        yield PartsLine(((field.label, "$muted"),))
                        yield Input(
                            id=f"job-{field.name}",
                            placeholder=field.hint,
                            compact=True,
                            select_on_focus=False,
                        )

    @property
    def is_shown(self) -> bool:
        """Whether it is open."""
        return self.has_class("-shown")

    def is_last(self, field: Input) -> bool:
        """Whether enter in this field stores what was written."""
        return field.id == f"job-{FORMS[self._tab][-1].name}"

    def open(self, tab: Tab, job: Job | None = None) -> Input:
        """Show the form of a list, for a change of `job` if one is given; gives its first field."""
        self._tab = tab
        if job is not None or self._edited is not None:
            self.clear()
        self._edited = job
        first = next(field for field in FORMS[Tab.JOBS] if field.name == "first")
        # A job that is changed keeps its next run where none is written.
        hint = first.hint if job is None else first.hint.replace("in 15 s", "as it is")
        self._field("first").placeholder = hint
        if job is not None:
            self._field("prompt").value = job.prompt
            shown = repeat(job)
            self._field("every").value = "" if shown == "once" else shown.replace(" ", "")
            cron = job.schedule_json.get("cron")
            if isinstance(cron, str) and cron:
                self._field("every").value = one_line(cron, 200)
        for other in Tab:
            self.query_one(f"#form-{other.value}").display = other is tab
        self.add_class("-shown")
        return self._field(FORMS[tab][0].name)

    def close(self) -> None:
        """Put it away with what was typed."""
        self.remove_class("-shown")

    def clear(self) -> None:
        """Forget what was typed."""
        for field in (field for fields in FORMS.values() for field in fields):
            self._field(field.name).value = ""

    def _field(self, name: str) -> Input:
        return self.query_one(f"#job-{name}", Input)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        names = [f"job-{field.name}" for field in FORMS[self._tab]]
        at = names.index(event.input.id or names[0])
        if at + 1 < len(names):
            self.screen.set_focus(self.query_one(f"#{names[at + 1]}", Input))
            return
        try:
            op = self._read()
        except UsageError as error:
            self.post_message(self.Refused(str(error)))
            return
        self.post_message(self.Written(op))

    def _read(self) -> Op:
        typed = [self._field(field.name).value.strip() for field in FORMS[self._tab]]
        now = datetime.now(tz=UTC).astimezone()
        match self._tab:
            case Tab.JOBS:
                prompt, first, every = typed
                if self._edited is not None:
                    return edit_of(self._edited, prompt, first, every, now)
                return job_of(prompt, first, every, now)
            case Tab.WATCHERS:
                look, words, prompt = typed
                return watcher_of(look, words, prompt, now)
            case Tab.COMMITMENTS:
                title, due = typed
                if not title:
                    raise UsageError("It is not said what was promised.", "Fill in the first line.")
                return CommitmentCreate(title=title, due_at=when_ms(due, now))


def job_of(prompt: str, first: str, every: str, now: datetime) -> JobCreate:
    """Make a job of three lines. Raises UsageError naming what cannot be read."""
    if not prompt:
        raise UsageError("The job does not say what to do.", "Fill in the first line.")
    is_cron = _CRON.fullmatch(every) is not None
    return JobCreate(
        title=one_line(prompt, _TITLE_CHARS),
        prompt=prompt,
        next_run_at=when_ms(first, now),
        interval_ms=duration_ms(every) if every and not is_cron else 0,
        cron=every if is_cron else "",
    )


def edit_of(job: Job, prompt: str, first: str, every: str, now: datetime) -> JobEdit:
    """Make the change of a job; what says what it said before stays. Raises UsageError."""
    made = job_of(prompt, first, every, now)
    schedule = job.schedule_json
    was_titled = job.title == one_line(job.prompt, _TITLE_CHARS)
    interval = made.interval_ms if made.interval_ms != schedule.get("interval_ms", 0) else None
    cron = made.cron if made.cron != schedule.get("cron", "") else None
    return JobEdit(
        job_id=job.id,
        prompt=prompt if prompt != job.prompt else None,
        title=made.title if prompt != job.prompt and was_titled else None,
        next_run_at=made.next_run_at or None,
        interval_ms=interval,
        cron=cron,
    )


def watcher_of(look: str, words: str, prompt: str, now: datetime) -> WatcherCreate:
    """Make a watcher of three lines. Raises UsageError naming what cannot be read."""
    texts = tuple(one for one in (word.strip() for word in words.split(",")) if one)
    if look.startswith(("https://", "http://")):
        evaluator = Evaluator.TEXT_CONTAINS if texts else Evaluator.HASH_CHANGE
        return WatcherCreate(
            watcher_type=WatcherType.WEB_CHANGE,
            url=look,
            texts=texts,
            evaluator=evaluator,
            prompt=prompt,
        )
    if look.casefold() in ("screen", "the screen", "a screen"):
        return WatcherCreate(watcher_type=WatcherType.SCREEN_TEXT, texts=texts, prompt=prompt)
    if sent := _FROM.fullmatch(look):
        return WatcherCreate(
            watcher_type=WatcherType.MESSAGE_REPLY, sender=sent[1], texts=texts, prompt=prompt
        )
    if called := _CALLS.fullmatch(look):
        return WatcherCreate(
            watcher_type=WatcherType.CALL_BACK, sender=called[1] or "", texts=texts, prompt=prompt
        )
    if posted := _NOTIFICATIONS.fullmatch(look):
        return WatcherCreate(
            watcher_type=WatcherType.NOTIFICATION,
            package=posted[1] or "",
            texts=texts,
            prompt=prompt,
        )
    if look[:1].isdigit():
        return WatcherCreate(
            watcher_type=WatcherType.TIME,
            title=words,
            next_run_at=when_ms(look, now),
            prompt=prompt,
        )
    raise UsageError(
        f"{one_line(look, 40)!r} is nothing to look at.",
        "Write notifications, messages or calls from NAME, screen, the address of a page, or a "
        "time.",
    )
