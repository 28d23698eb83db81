"""Clock: alarms, the time in other cities, a timer and a stopwatch.

Running ones are kept as the moment they began, so they go on over a restart. Invariant: the status
bar's alarm sign shows exactly when an alarm is on.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Alarm(msgspec.Struct):
    """An alarm; hours and minutes of the day."""

    id: int
    hour: int
    minute: int
    on: bool = True
    label: str = ""


class Clocks(msgspec.Struct):
    """The app's state; stamps in seconds since the epoch, 0 means not running."""

    alarms: list[Alarm] = []
    next_id: int = 1
    timer_s: float = 300.0
    timer_ends: float = 0.0
    stopwatch_began: float = 0.0
    stopwatch_kept_s: float = 0.0
    laps: list[float] = []


def seed(_seed: Seed) -> Clocks:
    """Return a weekday's alarms."""
    return Clocks([Alarm(1, 7, 0, on=False, label="Work"), Alarm(2, 9, 30, on=False)], 3)


clock = App(
    package="com.android.deskclock",
    label="Clock",
    icon=AppIcon("clock", "#4D5B9E", "#27346E"),
    state=Clocks,
    seed=seed,
    version_name="7.5",
    version_code=750,
)
CITIES = (("Tokyo", 9), ("London", 0), ("New York", -5), ("Sydney", 11))


def tell_next(page: Page[Clocks]) -> None:
    """Write the next alarm where the status bar reads it."""
    on = sorted((a.hour, a.minute) for a in page.data.alarms if a.on)
    value = f"{on[0][0]:02d}:{on[0][1]:02d}" if on else ""
    page.settings.put("system", "next_alarm_formatted", value)


@clock.page(
    ".DeskClock",
    launcher=True,
    actions=["android.intent.action.SHOW_ALARMS", "android.intent.action.SHOW_TIMERS"],
)
def clock_page(page: Page[Clocks]) -> View:
    """Show the chosen tab."""
    tab = page.local("tab", "alarm")
    body = {"alarm": _alarms, "clock": _cities, "timer": _timer, "stopwatch": _stopwatch}[tab]
    names = {"alarm": "Alarms", "clock": "Clock", "timer": "Timer", "stopwatch": "Stopwatch"}
    return patterns.screen(
        patterns.title_bar(names[tab]),
        body(page),
        patterns.bottom_nav(
            [
                ("alarm", "Alarms", "alarm"),
                ("clock", "Clock", "clock"),
                ("timer", "Timer", "timer"),
                ("stopwatch", "Stopwatch", "world_clock"),
            ],
            tab,
            lambda v: page.set("tab", v),
        ),
    )


def _alarms(page: Page[Clocks]) -> View:
    def toggle(alarm: Alarm) -> Callable[[], None]:
        def act() -> None:
            alarm.on = not alarm.on
            tell_next(page)
            if alarm.on:
                page.toast(f"Alarm set for {alarm.hour:02d}:{alarm.minute:02d}")

        return act

    def remove(alarm: Alarm) -> Callable[[], None]:
        def act() -> None:
            page.data.alarms.remove(alarm)
            tell_next(page)
            page.toast("Alarm deleted")

        return act

    def card(alarm: Alarm) -> View:
        return ui.row(
            ui.column(
                text(
                    f"{alarm.hour:02d}:{alarm.minute:02d}",
                    TextStyle(44, 400, "text" if alarm.on else "text3"),
                    id="digital_clock",
                ),
                text(alarm.label or "Once", ui.CAPTION, id="label"),
                weight=1,
            ),
            ui.icon_button("delete", "Delete alarm", remove(alarm), tint="text2", id="delete"),
            ui.switch(
                alarm.on, toggle(alarm), id="onoff", desc=f"{alarm.hour:02d}:{alarm.minute:02d}"
            ),
            width=MATCH,
            fill="surface",
            radius=24,
            pad=ui.edges(22, 14),
            margin=(16, 5, 16, 5),
            gap=10,
            id="alarm_card",
            key=f"alarm {alarm.id}",
        )

    if page.local("new"):
        _new_alarm(page)
    shown = sorted(page.data.alarms, key=lambda a: (a.hour, a.minute))
    listing: ui.Child = patterns.list_page("alarms", *(card(a) for a in shown))
    if not shown:
        listing = patterns.empty("alarm", "No alarms")
    return ui.stack(
        ui.column(listing, height=MATCH),
        patterns.fab("add", "Add alarm", page.setter("new"), id="fab"),
        width=MATCH,
        weight=1,
    )


def _new_alarm(page: Page[Clocks]) -> None:
    def close() -> None:
        page.set("new", "")
        for key in ("hour", "minute", "label"):
            page.state.fields.pop(key, None)

    def keep() -> None:
        try:
            hour, minute = int(page.field("hour", "8")), int(page.field("minute", "00"))
        except ValueError:
            hour = minute = -1
        if not (0 <= hour < 24 and 0 <= minute < 60):
            page.toast("Enter a time from 00:00 to 23:59")
            return
        page.data.alarms.append(
            Alarm(page.data.next_id, hour, minute, label=page.field("label").strip())
        )
        page.data.next_id += 1
        tell_next(page)
        page.toast(f"Alarm set for {hour:02d}:{minute:02d}")
        close()

    def part(key: str, value: str, label: str) -> View:
        return ui.column(
            ui.field(
                key,
                value=value,
                style=TextStyle(40, 400, align=Align.CENTER),
                id=f"input_{key}",
                fill="surface2",
                radius=16,
                height=84,
                pad=ui.edges(22, 0),
            ),
            text(label, ui.CAPTION),
            weight=1,
            gap=6,
        )

    page.show_dialog(
        patterns.alert(
            "Enter time",
            "",
            ui.button("Cancel", close, look="text"),
            ui.button("OK", keep, look="text"),
            body=ui.column(
                ui.row(
                    part("hour", "8", "Hour"),
                    text(":", TextStyle(40, 400)),
                    part("minute", "00", "Minute"),
                    width=MATCH,
                    gap=10,
                ),
                patterns.text_box("label", hint="Label", id="edit_label"),
                gap=14,
                margin=(0, 16, 0, 0),
            ),
        ),
        close,
    )


def _cities(page: Page[Clocks]) -> View:
    now = datetime.fromtimestamp(page.now, UTC)

    def city(name: str, offset: int) -> View:
        local = datetime.fromtimestamp(page.now + offset * 3600, UTC)
        return ui.row(
            ui.column(
                text(name, TextStyle(19, 500), id="city_name"),
                text(f"{offset:+d} h", ui.CAPTION),
                weight=1,
            ),
            text(f"{local:%H:%M}", TextStyle(34, 300), id="digital_clock"),
            width=MATCH,
            fill="surface",
            radius=24,
            pad=ui.edges(22, 14),
            margin=(16, 5, 16, 5),
        )

    return patterns.list_page(
        "cities",
        ui.column(
            text(f"{now:%H:%M}", TextStyle(84, 300), id="digital_clock"),
            text(f"{now:%A}, {now.day} {now:%B}", TextStyle(17, 400, "text2"), id="date"),
            cross=Align.CENTER,
            pad=ui.edges(0, 26),
            gap=4,
        ),
        *(city(*c) for c in CITIES),
        pad_bottom=16,
    )


def tick_while(page: Page[Clocks], running: bool) -> None:
    """Draw again in a second while something runs and the page is there."""
    if running and page.local("ticking") != str(int(page.now)):
        page.set("ticking", str(int(page.now)))
        page.host.after(1.0, lambda: None)


def _span(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // 60:02d}:{whole % 60:02d}"


def _timer(page: Page[Clocks]) -> View:
    data = page.data
    running = data.timer_ends > page.now
    left = data.timer_ends - page.now if running else data.timer_s
    tick_while(page, running)

    def start() -> None:
        data.timer_ends = page.now + data.timer_s

    def stop() -> None:
        data.timer_s, data.timer_ends = max(0.0, data.timer_ends - page.now), 0.0

    def change(step: float) -> Callable[[], None]:
        def act() -> None:
            data.timer_s = min(max(data.timer_s + step, 0.0), 86_399.0)

        return act

    return ui.column(
        ui.space(weight=1),
        text(_span(left), TextStyle(84, 300), id="timer_time_text"),
        ui.row(
            *(
                ui.button(n, change(s), look="tonal", enabled=not running)
                for n, s in (("−1 min", -60.0), ("+1 min", 60.0), ("+5 min", 300.0))
            ),
            gap=10,
        ),
        ui.space(weight=1),
        _switch(running, start, stop),
        ui.space(30),
        cross=Align.CENTER,
        weight=1,
        gap=24,
    )


def _switch(running: bool, start: Callable[[], None], stop: Callable[[], None]) -> View:
    if running:
        return patterns.round_button("pause", "Pause", stop, id="fab")
    return patterns.round_button("play", "Start", start, id="fab")


def _stopwatch(page: Page[Clocks]) -> View:
    data = page.data
    running = data.stopwatch_began > 0
    spent = data.stopwatch_kept_s + (page.now - data.stopwatch_began if running else 0)
    tick_while(page, running)

    def start() -> None:
        data.stopwatch_began = page.now

    def stop() -> None:
        data.stopwatch_kept_s, data.stopwatch_began = spent, 0.0

    def reset() -> None:
        data.stopwatch_kept_s = data.stopwatch_began = 0.0
        data.laps.clear()

    return ui.column(
        ui.space(weight=1),
        text(_span(spent), TextStyle(84, 300), id="stopwatch_time_text"),
        *(
            text(f"Lap {i + 1}   {_span(lap)}", ui.BODY_LARGE)
            for i, lap in enumerate(data.laps[-6:])
        ),
        ui.space(weight=1),
        ui.row(
            ui.button("Reset", reset, look="tonal", enabled=spent > 0),
            _switch(running, start, stop),
            ui.button("Lap", lambda: data.laps.append(spent), look="tonal", enabled=running),
            gap=18,
        ),
        ui.space(30),
        cross=Align.CENTER,
        weight=1,
        gap=16,
    )
