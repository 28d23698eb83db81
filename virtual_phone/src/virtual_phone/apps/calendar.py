"""Calendar: a month, the events of a day, making, changing and deleting events.

Times are the phone's (UTC). Invariant: an event's end is not before its start.
"""

import calendar as months
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import fab, list_page, screen, text_box, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Event(msgspec.Struct):
    """An event of one day; `day` as YYYY-MM-DD, times as HH:MM."""

    id: int
    title: str
    day: str
    start: str
    end: str
    place: str = ""


class Events(msgspec.Struct):
    """The app's state."""

    events: list[Event] = []
    next_id: int = 1


def seed(s: Seed) -> Events:
    """Return a week of appointments around today."""
    today = datetime.fromtimestamp(s.now, UTC).date()
    plan = (
        (0, "Lunch with Chloe", "12:30", "13:30", "Corner Cafe"),
        (1, "Train to the lake", "09:45", "12:10", "Central Station"),
        (2, "Team meeting", "10:00", "11:00", "Room 4"),
        (3, "Dentist", "15:15", "16:00", "Oak Street"),
        (5, "Tom's birthday", "18:00", "22:00", ""),
    )
    made = [
        Event(i + 1, title, str(today + timedelta(days=ahead)), start, end, place)
        for i, (ahead, title, start, end, place) in enumerate(plan)
    ]
    return Events(made, len(made) + 1)


calendar = App(
    package="com.android.calendar",
    label="Calendar",
    icon=AppIcon("calendar", "#4A86E8", "#2B63C6"),
    state=Events,
    seed=seed,
    version_name="7.3",
    version_code=73,
)
COLORS = ("#3557B7", "#2F7D6B", "#B06A1F", "#A8456F", "#7A5AA8")


def today_of(page: Page[Events]) -> date:
    """Return the phone's date."""
    return datetime.fromtimestamp(page.now, UTC).date()


def _date(value: str, default: date) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return default


@calendar.page(".AllInOneActivity", launcher=True)
def month(page: Page[Events]) -> View:
    """Show a month with the chosen day's events below."""
    today = today_of(page)
    chosen = _date(page.local("day"), today)

    def go(step: int) -> Callable[[], None]:
        def act() -> None:
            first = chosen.replace(day=1) + timedelta(days=32 if step > 0 else -1)
            page.set("day", str(first.replace(day=1)))

        return act

    busy = {e.day for e in page.data.events}

    def cell(day: date) -> View:
        on = day == chosen
        color = "on_accent" if on else "accent" if day == today else "text"
        if day.month != chosen.month:
            color = "text3"
        return ui.column(
            ui.stack(
                text(
                    str(day.day),
                    TextStyle(15, 600 if day == today else 400, color),
                    halign=Align.CENTER,
                    valign=Align.CENTER,
                ),
                width=38,
                height=38,
                radius=19,
                fill="accent" if on else "",
            ),
            ui.row(width=6, height=6, radius=3, fill="accent" if str(day) in busy else ""),
            on_click=page.setter("day", str(day)),
            desc=f"{day.day} {day:%B} {day.year}",
            selected=on,
            cross=Align.CENTER,
            gap=2,
            pad=ui.edges(0, 3),
            key=f"day {day}",
        )

    weeks = months.Calendar().monthdatescalendar(chosen.year, chosen.month)
    events = sorted((e for e in page.data.events if e.day == str(chosen)), key=lambda e: e.start)
    rows: list[ui.Child] = [_event_row(page, e) for e in events]
    if not rows:
        rows = [text("Nothing planned", TextStyle(16, 400, "text2"), pad=ui.edges(24, 16))]
    return screen(
        title_bar(
            f"{chosen:%B} {chosen.year}",
            actions=(
                ui.icon_button("arrow_up", "Previous month", go(-1)),
                ui.icon_button("arrow_down", "Next month", go(1)),
                ui.icon_button("calendar", "Today", page.setter("day", "")),
            ),
        ),
        ui.grid(
            7,
            *(text(d, TextStyle(13, 500, "text2")) for d in ("M", "T", "W", "T", "F", "S", "S")),
            *(cell(d) for week in weeks for d in week),
            pad=ui.edges(12, 4),
            id="month_view",
        ),
        text(
            f"{chosen:%A}, {chosen.day} {chosen:%B}",
            ui.OVERLINE,
            pad=(24, 10, 24, 6),
            id="day_title",
        ),
        ui.stack(
            ui.column(list_page("events", *rows), height=MATCH),
            fab(
                "add",
                "New event",
                page.opener(".event.EditEventActivity", day=str(chosen)),
                id="floating_action_button",
            ),
            width=MATCH,
            weight=1,
        ),
    )


def _event_row(page: Page[Events], event: Event) -> View:
    return ui.row(
        ui.row(width=6, height=44, radius=3, fill=COLORS[event.id % len(COLORS)]),
        ui.column(
            text(event.title, TextStyle(17, 500, max_lines=1), id="title"),
            text(
                f"{event.start} – {event.end}" + (f" • {event.place}" if event.place else ""),
                ui.CAPTION,
                id="when",
            ),
            weight=1,
            gap=3,
        ),
        on_click=page.opener(".event.EventInfoActivity", event=str(event.id)),
        width=MATCH,
        gap=14,
        fill="surface",
        radius=20,
        pad=ui.edges(16, 12),
        margin=(16, 4, 16, 4),
        key=f"event {event.id}",
    )


def _find(page: Page[Events]) -> Event | None:
    key = page.args.get("event", "")
    return next((e for e in page.data.events if str(e.id) == key), None)


@calendar.page(".event.EventInfoActivity")
def info(page: Page[Events]) -> View:
    """Show one event."""
    event = _find(page)
    if event is None:
        return screen(title_bar("Event", back=page.close))
    day = _date(event.day, today_of(page))

    def delete() -> None:
        page.data.events.remove(event)
        page.toast("Event deleted")
        page.close()

    if page.local("delete"):
        page.confirm("Delete this event?", event.title, "Delete", delete, local="delete")

    def fact(drawing: str, value: str) -> View:
        return ui.row(
            ui.icon(drawing, 24, "text2"),
            text(value, ui.BODY_LARGE, weight=1),
            width=MATCH,
            gap=18,
            pad=ui.edges(24, 12),
        )

    return screen(
        title_bar(
            "",
            back=page.close,
            actions=(
                ui.icon_button(
                    "edit",
                    "Edit event",
                    page.opener(".event.EditEventActivity", event=str(event.id)),
                    id="info_action_edit",
                ),
                ui.icon_button(
                    "delete", "Delete event", page.setter("delete"), id="info_action_delete"
                ),
            ),
        ),
        ui.scroll(
            "info",
            text(event.title, TextStyle(30, 400), pad=ui.edges(24, 10), id="title"),
            fact("clock", f"{day:%A}, {day.day} {day:%B} • {event.start} – {event.end}"),
            fact("location", event.place) if event.place else None,
            fact("bell", "10 minutes before"),
        ),
    )


@calendar.page(".event.EditEventActivity", actions=["android.intent.action.INSERT"])
def edit(page: Page[Events]) -> View:
    """Make or change an event."""
    event = _find(page)
    day = page.args.get("day", str(today_of(page)))
    old = event or Event(0, page.args.get("title", ""), day, "10:00", "11:00")

    def save() -> None:
        title = page.field("title", old.title).strip()
        try:
            when = date.fromisoformat(page.field("day", old.day).strip())
            start = datetime.strptime(page.field("start", old.start).strip(), "%H:%M")  # noqa: DTZ007
            end = datetime.strptime(page.field("end", old.end).strip(), "%H:%M")  # noqa: DTZ007
        except ValueError:
            page.toast("Write dates as 2026-01-31 and times as 14:30")
            return
        if not title:
            page.toast("An event needs a title")
            return
        if end < start:
            page.toast("The end is before the start")
            return
        target = event
        if target is None:
            target = Event(page.data.next_id, "", "", "", "")
            page.data.next_id += 1
            page.data.events.append(target)
        target.title, target.day = title, str(when)
        target.start, target.end = f"{start:%H:%M}", f"{end:%H:%M}"
        target.place = page.field("place", old.place).strip()
        page.toast("Event saved")
        page.close()

    def entry(key: str, label: str, value: str, drawing: str) -> View:
        return ui.row(
            ui.icon(drawing, 24, "text2"),
            ui.column(
                text(label, ui.CAPTION),
                text_box(key, value=value, hint=label, height=50),
                weight=1,
                gap=4,
            ),
            width=MATCH,
            gap=16,
            pad=ui.edges(18, 6),
        )

    return screen(
        title_bar(
            "Edit event" if event else "New event",
            back=page.close,
            actions=(ui.button("Save", save, look="text", id="action_done"),),
        ),
        ui.scroll(
            "edit",
            entry("title", "Title", old.title, "edit"),
            entry("day", "Date", old.day, "calendar"),
            entry("start", "Start", old.start, "clock"),
            entry("end", "End", old.end, "clock"),
            entry("place", "Location", old.place, "location"),
            ui.space(40),
        ),
    )
