"""The pages of Settings about the phone itself: display, sound, battery, system and more.

Pages only; the frame is in `settings.app`. Invariant: numbers shown come from the phone's tables.
"""

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings.app import flag_row, sub_page
from virtual_phone.apps.settings.tables import (
    choice,
    flag,
    hint,
    level,
    link,
    section,
    table,
    toast_row,
)
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import ask_text, group, preference, text_box
from virtual_phone.ui.views import TextStyle, View

P = Page[NoState]
FONT_SIZE = choice(
    "Font size",
    "system font_scale",
    [("0.85", "Small"), ("1.0", "Default"), ("1.15", "Large"), ("1.3", "Largest")],
    "1.0",
)
NAVIGATION = choice(
    "Navigation mode",
    "secure navigation_mode",
    [("2", "Gesture navigation"), ("0", "3-button navigation")],
    "2",
)
TIMEOUTS = [
    *(("15000", "15 seconds"), ("30000", "30 seconds"), ("60000", "1 minute")),
    *(("120000", "2 minutes"), ("600000", "10 minutes")),
]
TONES = [(name, name) for name in ("Bells", "Morning", "Chime", "Marimba")]
SCALES = [
    *(("0", "Animation off"), ("0.5", "Animation scale .5x")),
    *(("1.0", "Animation scale 1x"), ("2", "Animation scale 2x")),
]
STORED = (
    *(("Apps", 0.16, "apps"), ("Images", 0.09, "image"), ("Videos", 0.05, "videocam")),
    *(("Audio", 0.02, "music"), ("Documents", 0.01, "file"), ("System", 0.08, "phone")),
)
"""What uses the storage: its part of the whole, and its icon."""
IN_EVENING = "Tint the screen amber in the evening"
BY_PERMISSION = "Available to apps with permission"


def _auto_rotate(page: P) -> View:
    key = "accelerometer_rotation"
    switch = page.host.rotation.set_free
    return flag_row(page, "Auto-rotate screen", "system", key, switch=switch)


def _charge(page: P) -> View:
    level = page.host.power.battery_percent
    return ui.column(
        ui.text(f"{level}%", TextStyle(52, 400), id="battery_percent"),
        ui.progress(level / 100, height=10, id="battery_progress"),
        ui.text("About 1 day left", TextStyle(15, 400, "text2")),
        pad=ui.edges(24, 6),
        gap=10,
        margin=(0, 0, 0, 18),
    )


def _used(_: P) -> View:
    return ui.column(
        ui.text("52 GB used of 128 GB", TextStyle(20, 400)),
        ui.progress(0.41, height=10),
        pad=ui.edges(24, 6),
        gap=12,
        margin=(0, 0, 0, 16),
    )


def _users(_: P) -> View:
    def row(name: str, part: float, icon: str) -> View:
        size = f"{part * 128:.1f} GB"
        return preference(
            name, summary=size, icon_name=icon, key=f"row {name}", on_click=lambda: None
        )

    return group(*(row(*one) for one in STORED))


table(
    "display",
    "Display",
    section(
        level("Brightness level", "brightness", "system screen_brightness", 255),
        flag("Adaptive brightness", "system screen_brightness_mode"),
        title="Brightness",
    ),
    section(
        flag(
            "Dark theme",
            "secure ui_night_mode",
            off="1",
            on="2",
            summary="Will never turn on automatically",
        ),
        FONT_SIZE,
        flag("Night Light", "secure night_display_activated", summary=IN_EVENING),
        title="Appearance",
    ),
    section(
        choice("Screen timeout", "system screen_off_timeout", TIMEOUTS, "60000"),
        _auto_rotate,
        flag("Screen saver", "secure screensaver_enabled"),
        NAVIGATION,
        title="Controls",
    ),
    icon="brightness",
    color="#B06A1F",
    summary="Dark theme, font size, brightness",
    activity=".Settings$DisplaySettingsActivity",
    actions=("android.settings.DISPLAY_SETTINGS",),
)
table(
    "sound",
    "Sound & vibration",
    section(
        level("Media volume", "music", "system volume_music", 15),
        level("Call volume", "call", "system volume_voice", 7),
        level("Ring volume", "bell", "system volume_ring", 7),
        level("Notification volume", "notifications", "system volume_notification", 7),
        level("Alarm volume", "alarm", "system volume_alarm", 7),
    ),
    section(
        flag("Do Not Disturb", "global zen_mode", icon_name="dnd"),
        flag("Vibrate for calls", "system vibrate_when_ringing", icon_name="vibrate"),
        choice("Phone ringtone", "system ringtone", TONES),
        choice("Default notification sound", "system notification_sound", TONES),
        choice("Default alarm sound", "system alarm_alert", TONES),
        flag("Dial pad tones", "system dtmf_tone"),
        flag("Screen locking sound", "system lockscreen_sounds_enabled"),
        flag("Touch sounds", "system sound_effects_enabled"),
        flag("Touch vibration", "system haptic_feedback_enabled"),
    ),
    icon="sound",
    color="#A8456F",
    summary="Volume, haptics, Do Not Disturb",
    activity=".Settings$SoundSettingsActivity",
    actions=("android.settings.SOUND_SETTINGS",),
)
table(
    "notifications",
    "Notifications",
    section(
        flag("Notifications on lock screen", "secure lock_screen_show_notifications"),
        flag("Pop on screen", "global heads_up_notifications_enabled"),
        flag("Do Not Disturb", "global zen_mode"),
        flag("Notification dot on app icon", "secure notification_badging"),
        flag("Notification history", "secure notification_history_enabled"),
    ),
    icon="bell",
    color="#B4553D",
    summary="History, conversations",
    activity=".Settings$ConfigureNotificationSettingsActivity",
    actions=("android.settings.NOTIFICATION_SETTINGS",),
)
table(
    "battery",
    "Battery",
    _charge,
    section(
        flag(
            "Battery Saver",
            "global low_power",
            icon_name="battery_saver",
            summary="Limits background activity",
        ),
        flag(
            "Battery percentage",
            "system status_bar_show_battery_percent",
            summary="Show battery percentage in status bar",
        ),
        flag("Adaptive Battery", "global adaptive_battery_management_enabled"),
    ),
    icon="battery",
    color="#3F7F3A",
    summary="87% · about 1 day left",
    activity=".Settings$PowerUsageSummaryActivity",
    actions=(
        "android.intent.action.POWER_USAGE_SUMMARY",
        "android.settings.BATTERY_SAVER_SETTINGS",
    ),
)
table(
    "storage",
    "Storage",
    _used,
    _users,
    icon="storage",
    color="#2B7A8C",
    summary="41% used · 75 GB free",
    activity=".Settings$StorageDashboardActivity",
    actions=("android.settings.INTERNAL_STORAGE_SETTINGS",),
)
table(
    "wallpaper",
    "Wallpaper & style",
    section(
        flag("Dark theme", "secure ui_night_mode", off="1", on="2"),
        flag("Themed icons", "secure themed_icons"),
    ),
    hint("The wallpaper of this phone comes from its seed."),
    icon="palette",
    color="#7A5AA8",
    summary="Colors, themed icons, app grid",
)
table(
    "accessibility",
    "Accessibility",
    section(
        FONT_SIZE,
        flag("Color inversion", "secure accessibility_display_inversion_enabled"),
        flag("Remove animations", "global transition_animation_scale", off="1.0", on="0"),
        flag("Color correction", "secure accessibility_display_daltonizer_enabled"),
        flag("Large mouse pointer", "secure accessibility_large_pointer_icon"),
        flag("Mono audio", "system master_mono"),
    ),
    icon="person",
    color="#3557B7",
    summary="Display, interaction, audio",
    activity=".Settings$AccessibilitySettingsActivity",
    actions=("android.settings.ACCESSIBILITY_SETTINGS",),
)
table(
    "security",
    "Security & privacy",
    section(
        flag(
            "Screen lock",
            "secure lockscreen.disabled",
            off="1",
            on="0",
            summary="Swipe",
            icon_name="lock",
        ),
        flag("Camera access", "secure camera_access", icon_name="camera", summary=BY_PERMISSION),
        flag("Microphone access", "secure mic_access", icon_name="mic", summary=BY_PERMISSION),
        flag(
            "Show clipboard access", "secure clipboard_show_access_notifications", icon_name="copy"
        ),
        flag("Show passwords", "system show_password", icon_name="eye"),
    ),
    icon="security",
    color="#2F7D6B",
    summary="App security, device lock",
    activity=".Settings$SecurityDashboardActivity",
    actions=("android.settings.SECURITY_SETTINGS", "android.settings.PRIVACY_SETTINGS"),
)
table(
    "accounts",
    "Passwords & accounts",
    section(
        toast_row("casey@example.org", "Synced just now", "Mail", "mail", key="account"),
        flag("Automatically sync app data", "global auto_sync"),
    ),
    icon="person_add",
    color="#8A6D1F",
    summary="Saved passwords, autofill",
    activity=".Settings$AccountDashboardActivity",
    actions=("android.settings.SYNC_SETTINGS",),
)
table(
    "system",
    "System",
    section(
        toast_row(
            "Languages",
            "English is the only language here",
            summary="English (United States)",
            icon="language",
        ),
        toast_row("Keyboard", "Latin keyboard", "On-screen keyboard", "keyboard"),
        NAVIGATION,
        flag("One-handed mode", "secure one_handed_mode_enabled"),
    ),
    section(
        flag("Set time automatically", "global auto_time"),
        flag("Set time zone automatically", "global auto_time_zone"),
        flag("Use 24-hour format", "system time_12_24", off="12", on="24"),
        title="Date & time",
    ),
    section(
        link("Developer options", "developer", icon="menu"),
        toast_row("Reset options", "Use virtual-phone reset", icon="restart"),
    ),
    icon="info",
    color="#5F6675",
    summary="Languages, gestures, time, backup",
    activity=".Settings$SystemDashboardActivity",
    actions=("android.settings.LOCALE_SETTINGS", "android.settings.DATE_SETTINGS"),
)
table(
    "developer",
    "Developer options",
    section(
        flag("USB debugging", "global adb_enabled"),
        flag("Stay awake", "global stay_on_while_plugged_in", on="7"),
        flag("Show taps", "system show_touches"),
        flag("Pointer location", "system pointer_location"),
        choice("Window animation scale", "global window_animation_scale", SCALES),
        choice("Transition animation scale", "global transition_animation_scale", SCALES),
        choice("Animator duration scale", "global animator_duration_scale", SCALES),
    ),
    icon="settings",
    parent="system",
    activity=".Settings$DevelopmentSettingsDashboardActivity",
    actions=("android.settings.APPLICATION_DEVELOPMENT_SETTINGS",),
)


@sub_page(
    "about",
    "About phone",
    icon="phone",
    color="#5F6675",
    summary="Virtual Phone",
    activity=".Settings$MyDeviceInfoActivity",
    actions=("android.settings.DEVICE_INFO_SETTINGS",),
)
def about(page: P) -> list[View]:
    """Show what the phone is; its name can be changed."""
    props, panel = page.host.properties, page.host.displays
    name = page.settings.get("global", "device_name") or "Virtual Phone"
    if page.local("rename"):
        _rename(page, name)

    def fact(title: str, value: str, icon: str = "") -> View:
        return preference(title, summary=value, key=f"row {title}")

    rows: list[ui.Child] = [
        preference(
            "Device name", summary=name, on_click=page.setter("rename"), key="row Device name"
        )
    ]
    return [
        group(*rows, fact("Phone number (SIM slot 1)", "+1 555 0100"), title="Basic info"),
        group(
            fact("Model", props["ro.product.model"]),
            fact("Serial number", props["ro.serialno"]),
            fact("Display", f"{panel.width} × {panel.height}, {panel.density} dpi"),
            title="Device details",
        ),
        group(
            fact("Android version", props["ro.build.version.release"]),
            fact("Android security update", props["ro.build.version.security_patch"]),
            fact("Kernel version", props["ro.kernel.version"]),
            fact("Build number", props["ro.build.display.id"]),
            fact(
                "IP address",
                "192.0.2.27" if page.settings.flag("global", "wifi_on") else "Unavailable",
            ),
        ),
    ]


def _rename(page: P, name: str) -> None:
    def cancel() -> None:
        page.set("rename", "")
        page.state.fields.pop("device_name", None)

    def keep() -> None:
        page.settings.put("global", "device_name", page.field("device_name", name).strip() or name)
        cancel()

    box = text_box("device_name", value=name, id="android:id/edit")
    page.show_dialog(ask_text("Device name", box, cancel, "OK", keep), cancel)
