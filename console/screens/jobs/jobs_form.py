"""The form of the Jobs screen: a few lines that make a job, a watcher or a commitment.

Not the lists. Invariant: what cannot be read is said by its field, and nothing that was typed is
lost before it is stored.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from agent.errors import UsageError
from agent.placement.needs import parse_needs
from agent.protocol import CommitmentCreate, JobCreate, JobEdit, Op, WatcherCreate
from agent.records import DeviceInfo, Evaluator, Job, JobType, WatcherType
from agent.state.terms import term
from agent.text import one_line
from console.cli_support.time_parsing import duration_ms, when_ms
from console.palette.handles import are_needs, phone_handle, phone_of
from console.screens.jobs.jobs_lists import Tab
from widgets.base.formatting import natural
from widgets.base.header_line import PartsLine
from widgets.base.hint_input import HintInput
from widgets.lists.job_words import repeat

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
        Field("title", "title", "its name in lists; empty: the start of the first line"),
        Field("phone", "phone", "a phone, #tag, or needs as app:com.x>=3.2; empty: any"),
        Field("type", "type", "agent, message or heartbeat; empty: agent"),
    ),
    Tab.WATCHERS: (
        Field("look", "look at", "notifications, messages from Ana, screen, https://… or 18:30"),
        Field("words", "words", "what it must say, separated by commas; empty: anything"),
        Field("react", "then do", "what an agent should do; empty: only tell me"),
    ),
    Tab.COMMITMENTS: (
        Field("promise", "what", "Write what was promised"),
        Field("due", "due", "10m, 18:30 or 2026-01-31T08:00; empty: no time"),
    ),
}


_ENOUGH = {Tab.JOBS: "every", Tab.WATCHERS: "react", Tab.COMMITMENTS: "due"}
"""The line at which enter stores; the lines after it, which tab goes to, may stay empty."""
_FIXED = ("phone", "type")  # What a job keeps for good.
_TYPES = {
    "": JobType.AGENT_TURN,
    "agent": JobType.AGENT_TURN,
    "message": JobType.SYSTEM_EVENT,
    "heartbeat": JobType.HEARTBEAT,
}


class JobForm(Vertical):
    """The form, of one list at a time.

    Args:
        id: of the widget.
        now_ms: returns the time that "in 10m" counts from, in ms since the epoch.
    """

    class Written(Message):
        """The operator has filled the form in."""

        def __init__(self, op: Op, tab: Tab, edited: Job | None, typed: tuple[str, ...]) -> None:
            super().__init__()
            self.op = op
            self.tab = tab
            self.edited = edited
            self.typed = typed

    class Refused(Message):
        """A field cannot be read."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(self, *, id: str, now_ms: Callable[[], int]) -> None:
        super().__init__(id=id)
        self._now_ms = now_ms
        self._tab = Tab.JOBS
        self._edited: Job | None = None
        self.devices: Mapping[str, DeviceInfo] = {}
        """The phones that a job may be put on."""

    def compose(self) -> ComposeResult:
        for tab, fields in FORMS.items():
            with Vertical(id=f"form-{tab.value}"):
                for field in fields:
                    with Horizontal():
                        yield PartsLine(((field.label, "$muted"),))
                        yield HintInput(
                            id=f"job-{field.name}",
                            hint=field.hint,
                            compact=True,
                            select_on_focus=False,
                        )
                if tab is Tab.JOBS:
                    yield PartsLine(id="job-next")

    @property
    def is_shown(self) -> bool:
        return self.has_class("-shown")

    def is_last(self, field: Input) -> bool:
        """Whether enter in this field stores what was written."""
        names = [f"job-{one.name}" for one in FORMS[self._tab]]
        return names.index(field.id or "") >= names.index(f"job-{_ENOUGH[self._tab]}")

    def open(self, tab: Tab, job: Job | None = None) -> Input:
        """Show the form of a list, for a change of `job` if given; returns its first field."""
        self._tab = tab
        if job is not None or self._edited is not None:
            self.clear()
        self._edited = job
        first = next(field for field in FORMS[Tab.JOBS] if field.name == "first")
        # A job that is changed keeps its next run where none is written.
        hint = first.hint if job is None else first.hint.replace("in 15 s", "as it is")
        self.query_one("#job-first", HintInput).hint = hint
        for name in _FIXED:
            self._field(name).disabled = job is not None
        if job is not None:
            self._field("title").value = job.title
            self._field("phone").value = str(job.payload_json.get("serial") or "")
            self._field("type").value = term(job.type)
            self._field("prompt").value = job.prompt
            shown = repeat(job)
            self._field("every").value = "" if shown == "once" else shown.replace(" ", "")
            cron = job.schedule_json.get("cron")
            if isinstance(cron, str) and cron:
                self._field("every").value = one_line(cron, 200)
        for other in Tab:
            self.query_one(f"#form-{other.value}").display = other is tab
        self.add_class("-shown")
        self._show_next()
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
        if not self.is_last(event.input):
            self.screen.set_focus(self.query_one(f"#{names[at + 1]}", Input))
            return
        try:
            op = self._read()
        except UsageError as error:
            self.post_message(self.Refused(str(error)))
            return
        typed = tuple(self._field(field.name).value for field in FORMS[self._tab])
        written = self.Written(op, self._tab, self._edited, typed)
        self.clear()
        self.post_message(written)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_next()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._now_ms() / 1000, tz=UTC).astimezone()

    def _show_next(self) -> None:
        """Show the next three times of what is written, in local time, while it is written."""
        if self._tab is not Tab.JOBS:
            return
        from agent.tools.standing_work import when

        now = self._now()
        first, every = self._field("first").value.strip(), self._field("every").value.strip()
        try:
            if self._edited is not None and not (first or every):
                said, style = "as it is", "$muted"
            else:
                made = job_of("-", first, every, now)
                said, style = when(made, now_ms=round(now.timestamp() * 1000)), "$foreground"
        except UsageError as error:
            said, style = error.message, "$warn"
        line = (("next runs   ", "$muted"), (one_line(said, 300), style))
        self.query_one("#job-next", PartsLine).show(line)

    def give_back(self, written: Written) -> None:
        """Keep what was written in vain, unless something else was begun."""
        fields = FORMS[written.tab]
        if any(self._field(field.name).value for field in fields):
            return
        self._edited = written.edited
        for field, text in zip(fields, written.typed, strict=True):
            self._field(field.name).value = text

    def _read(self) -> Op:
        typed = [self._field(field.name).value.strip() for field in FORMS[self._tab]]
        now = self._now()
        match self._tab:
            case Tab.JOBS:
                prompt, first, every, title, phone, kind = typed
                if self._edited is not None:
                    return edit_of(self._edited, prompt, first, every, now, title=title)
                op = job_of(prompt, first, every, now, title=title)
                return replace(op, **self._where(phone), job_type=_type_of(kind))
            case Tab.WATCHERS:
                look, words, prompt = typed
                return watcher_of(look, words, prompt, now)
            case Tab.COMMITMENTS:
                title, due = typed
                if not title:
                    raise UsageError("What was promised is missing.", "Fill in the first line.")
                return CommitmentCreate(title=title, due_at=when_ms(due, now))

    def _where(self, phone: str) -> dict[str, Any]:
        """Read on which phones a job may run. Raises UsageError."""
        if not phone:
            return {}
        if phone.startswith("#"):
            return {"tags": tuple(phone.replace("#", " ").replace(",", " ").split())}
        if are_needs(phone):
            return {"phone_needs": str(parse_needs(phone))}
        serial = phone_of("-".join(phone.split()), self.devices)
        if not serial:
            known = ", ".join(
                phone_handle(one, self.devices)[1:] for one in sorted(self.devices, key=natural)
            )
            remedy = f"Known: {known}." if known else "No phone is known here."
            raise UsageError(f"There is no phone {one_line(phone, 40)!r}.", remedy)
        return {"serial": serial}


def _type_of(typed: str) -> JobType:
    found = _TYPES.get(typed.casefold())
    if found is None:
        raise UsageError(
            f"{one_line(typed, 40)!r} is not a type.", "Write agent, message or heartbeat."
        )
    return found


def job_of(prompt: str, first: str, every: str, now: datetime, *, title: str = "") -> JobCreate:
    """Make a job of three lines. Raises UsageError naming what cannot be read."""
    if not prompt:
        raise UsageError("The job does not say what to do.", "Fill in the first line.")
    is_cron = _CRON.fullmatch(every) is not None
    return JobCreate(
        title=one_line(title or prompt, _TITLE_CHARS),
        prompt=prompt,
        next_run_at=when_ms(first, now),
        interval_ms=duration_ms(every) if every and not is_cron else 0,
        cron=every if is_cron else "",
    )


def edit_of(
    job: Job, prompt: str, first: str, every: str, now: datetime, *, title: str = ""
) -> JobEdit:
    """Make the change of a job; what says what it said before stays. Raises UsageError."""
    made = job_of(prompt, first, every, now)
    schedule = job.schedule_json
    was_titled = job.title == one_line(job.prompt, _TITLE_CHARS)
    interval = made.interval_ms if made.interval_ms != schedule.get("interval_ms", 0) else None
    cron = made.cron if made.cron != schedule.get("cron", "") else None
    named: str | None = None
    if title and title != job.title:
        named = one_line(title, _TITLE_CHARS)
    elif prompt != job.prompt and was_titled:
        named = made.title
    return JobEdit(
        job_id=job.id,
        prompt=prompt if prompt != job.prompt else None,
        title=named,
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
        f"{one_line(look, 40)!r} is not something to watch.",
        "Write notifications, messages or calls from NAME, screen, the address of a page, or a "
        "time.",
    )
