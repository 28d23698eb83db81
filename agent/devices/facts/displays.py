"""Read what a phone says of each of its displays."""

from agent.devices.facts.dump_text import MAIN_DISPLAY, Section, read_dump
from agent.devices.facts.fact import Fact, Unknown, first_known, known
from agent.devices.facts.focus import App, Window, app_in, focus_in
from agent.devices.facts.keyboard import keyboard_in
from agent.devices.facts.keyguard import keyguard_in
from agent.devices.facts.sizes import Size, rotation_in, size_in
from agent.devices.facts.windows import secure_of, windows_of
from agent.records.record import Record

DISPLAYS = "dumpsys window displays; dumpsys window windows"


class DisplayFacts(Record, frozen=True, kw_only=True):
    """One display.

    Attributes:
        number: Android's logical number; 0 is the main one, whatever order they are printed in.
        size: width and height in pixels, as it is turned now.
        rotation: quarter turns from the natural orientation.
        focus: the window that has the focus; None where another display has it.
        app: the activity that has it, or would get it.
        keyguard_showing: whether its lock screen shows, maybe covered by an app.
        secure: whether the window in front forbids pictures of itself.
        keyboard_shown: whether a keyboard covers a part of it, by the insets alone.
    """

    number: int
    size: Fact[Size]
    rotation: Fact[int]
    focus: Fact[Window | None]
    app: Fact[App | None]
    keyguard_showing: Fact[bool]
    secure: Fact[bool]
    keyboard_shown: Fact[bool]


def read_displays(text: str) -> Fact[tuple[DisplayFacts, ...]]:
    """Read every display, in the order of their numbers."""
    dump = read_dump(text)
    sections = {one.display: one for one in dump.displays if one.display is not None}
    if not sections:
        return Unknown(reason="`dumpsys window displays` has no section of any display")
    windows = windows_of(dump)
    found: list[DisplayFacts] = []
    for number, section in sorted(sections.items()):
        # Until Android 9 the focus and the rotation stand in the part for windows.
        loose = dump.rest if number == MAIN_DISPLAY else Section(number, ())
        found.append(
            DisplayFacts(
                number=number,
                size=size_in(section),
                rotation=first_known(rotation_in(section), rotation_in(loose)),
                focus=first_known(focus_in(section), focus_in(loose)),
                app=first_known(app_in(section), app_in(loose)),
                keyguard_showing=first_known(keyguard_in(section), keyguard_in(loose)),
                secure=secure_of(dump, windows, number),
                keyboard_shown=keyboard_in(section),
            )
        )
    return known(tuple(found), f"Display: mDisplayId={', '.join(map(str, sorted(sections)))}")
