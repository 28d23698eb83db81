"""Exercises in Settings: switches, look-alike labels, choices, long scrolls, search."""

from agent.exercises.exercise import Exercise, Tag
from agent.exercises.route import Launch, Tap, Write
from agent.exercises.suite.checks import all_of, becomes, finished, setting, unchanged

PACKAGE = "com.android.settings"
OPEN = Launch(PACKAGE)


EXERCISES = (
    Exercise(
        name="bluetooth-on",
        goal="Turn on Bluetooth",
        tags=(Tag.SINGLE_APP,),
        route=(OPEN, Tap("Connected devices"), Tap("Bluetooth"), Tap("Use Bluetooth")),
        check=all_of(becomes(lambda s: s["bluetooth"], True, "Bluetooth"), finished),
    ),
    Exercise(
        name="wifi-on",
        goal="Turn on Wi-Fi",
        scenario="wifi-off",
        tags=(Tag.SINGLE_APP, Tag.LOOK_ALIKE),
        route=(OPEN, Tap("Network & internet"), Tap("Internet"), Tap("Wi‑Fi")),
        check=all_of(
            becomes(lambda s: s["wifi"], True, "Wi-Fi"),
            unchanged(setting("global", "hotspot_on"), "the hotspot"),
            finished,
        ),
    ),
    Exercise(
        name="airplane-mode",
        goal="Turn on airplane mode",
        tags=(Tag.SINGLE_APP,),
        route=(OPEN, Tap("Network & internet"), Tap("Airplane mode")),
        check=all_of(becomes(lambda s: s["airplane_mode"], True, "airplane mode"), finished),
    ),
    Exercise(
        name="dark-theme",
        goal="Turn on the dark theme",
        tags=(Tag.SINGLE_APP,),
        route=(OPEN, Tap("Display"), Tap("Dark theme")),
        check=all_of(becomes(lambda s: s["dark_theme"], True, "the dark theme"), finished),
    ),
    Exercise(
        name="dial-pad-tones-off",
        goal="Turn off Dial pad tones",
        tags=(Tag.SINGLE_APP, Tag.LONG_SCROLL, Tag.LOOK_ALIKE),
        route=(OPEN, Tap("Sound & vibration"), Tap("Dial pad tones")),
        check=all_of(
            becomes(setting("system", "dtmf_tone"), "0", "dial pad tones"),
            unchanged(setting("system", "sound_effects_enabled"), "touch sounds"),
            finished,
        ),
    ),
    Exercise(
        name="touch-vibration-off",
        goal="Turn off Touch vibration",
        tags=(Tag.SINGLE_APP, Tag.LONG_SCROLL, Tag.LOOK_ALIKE),
        route=(OPEN, Tap("Sound & vibration"), Tap("Touch vibration")),
        check=all_of(
            becomes(setting("system", "haptic_feedback_enabled"), "0", "touch vibration"),
            unchanged(setting("system", "sound_effects_enabled"), "touch sounds"),
            finished,
        ),
    ),
    Exercise(
        name="screen-timeout",
        goal="Set the screen timeout to 2 minutes",
        tags=(Tag.SINGLE_APP, Tag.DIALOG),
        route=(OPEN, Tap("Display"), Tap("Screen timeout"), Tap("2 minutes")),
        check=all_of(
            becomes(setting("system", "screen_off_timeout"), "120000", "the timeout"), finished
        ),
    ),
    Exercise(
        name="font-size",
        goal="Set the font size to Largest",
        tags=(Tag.SINGLE_APP, Tag.DIALOG),
        route=(OPEN, Tap("Display"), Tap("Font size"), Tap("Largest")),
        check=all_of(becomes(setting("system", "font_scale"), "1.3", "the font scale"), finished),
    ),
    Exercise(
        name="usb-pointer-location",
        goal="Turn on Pointer location in the developer options",
        tags=(Tag.SINGLE_APP, Tag.LONG_SCROLL),
        route=(OPEN, Tap("System"), Tap("Developer options"), Tap("Pointer location")),
        check=all_of(
            becomes(setting("system", "pointer_location"), "1", "pointer location"),
            unchanged(setting("system", "show_touches"), "show taps"),
            finished,
        ),
    ),
    Exercise(
        name="device-name",
        goal='Change the device name to "Werkstatt Süd 🔧"',
        tags=(Tag.SINGLE_APP, Tag.TEXT, Tag.DIALOG, Tag.LONG_SCROLL),
        route=(
            OPEN,
            Tap("About phone"),
            Tap("Device name"),
            Write("Werkstatt Süd 🔧", clear=True),
            Tap("OK"),
        ),
        check=all_of(
            becomes(setting("global", "device_name"), "Werkstatt Süd 🔧", "the name"), finished
        ),
    ),
)
