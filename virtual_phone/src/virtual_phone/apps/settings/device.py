"""The pages of Settings about the phone itself: display, sound, apps, battery, system and more.

Pages only; the frame is in `settings`. Invariant: numbers shown come from the phone's tables.
"""

from __future__ import annotations

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings.app import choice_row, flag_row, open_sub, slider_row, sub_page
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import alert, group, note, preference
from virtual_phone.ui.views import TextStyle, View
from virtual_phone.ui.vocabulary import text

P = Page[NoState]


@sub_page(
    "display",
    "Display",
    icon="brightness",
    color="#B06A1F",
    summary="Dark theme, font size, brightness",
    activity=".Settings$DisplaySettingsActivity",
    actions=("android.settings.DISPLAY_SETTINGS",),
)
def display(page: P) -> list[View]:
    """Show how the screen looks."""
    return [
        group(
            slider_row(page, "Brightness level", "brightness", "system", "screen_brightness", 255),
            flag_row(page, "Adaptive brightness", "system", "screen_brightness_mode"),
            title="Brightness",
        ),
        group(
            flag_row(
                page,
                "Dark theme",
                "secure",
                "ui_night_mode",
                off="1",
                on="2",
                summary="Will never turn on automatically",
            ),
            choice_row(
                page,
                "Font size",
                [("0.85", "Small"), ("1.0", "Default"), ("1.15", "Large"), ("1.3", "Largest")],
                "system",
                "font_scale",
                "1.0",
            ),
            flag_row(
                page,
                "Night Light",
                "secure",
                "night_display_activated",
                summary="Tint the screen amber in the evening",
            ),
            title="Appearance",
        ),
        group(
            choice_row(
                page,
                "Screen timeout",
                [
                    ("15000", "15 seconds"),
                    ("30000", "30 seconds"),
                    ("60000", "1 minute"),
                    ("120000", "2 minutes"),
                    ("600000", "10 minutes"),
                ],
                "system",
                "screen_off_timeout",
                "60000",
            ),
            flag_row(
                page,
                "Auto-rotate screen",
                "system",
                "accelerometer_rotation",
                switch=page.host.set_auto_rotate,
            ),
            flag_row(page, "Screen saver", "secure", "screensaver_enabled"),
            choice_row(
                page,
                "Navigation mode",
                [("2", "Gesture navigation"), ("0", "3-button navigation")],
                "secure",
                "navigation_mode",
                "2",
            ),
            title="Controls",
        ),
    ]


@sub_page(
    "sound",
    "Sound & vibration",
    icon="sound",
    color="#A8456F",
    summary="Volume, haptics, Do Not Disturb",
    activity=".Settings$SoundSettingsActivity",
    actions=("android.settings.SOUND_SETTINGS",),
)
def sound(page: P) -> list[View]:
    """Show volumes and sounds."""
    tones = [("Bells", "Bells"), ("Morning", "Morning"), ("Chime", "Chime"), ("Marimba", "Marimba")]
    return [
        group(
            slider_row(page, "Media volume", "music", "system", "volume_music", 15),
            slider_row(page, "Call volume", "call", "system", "volume_voice", 7),
            slider_row(page, "Ring volume", "bell", "system", "volume_ring", 7),
            slider_row(
                page, "Notification volume", "notifications", "system", "volume_notification", 7
            ),
            slider_row(page, "Alarm volume", "alarm", "system", "volume_alarm", 7),
        ),
        group(
            flag_row(page, "Do Not Disturb", "global", "zen_mode", icon_name="dnd"),
            flag_row(
                page, "Vibrate for calls", "system", "vibrate_when_ringing", icon_name="vibrate"
            ),
            choice_row(page, "Phone ringtone", tones, "system", "ringtone"),
            choice_row(page, "Default notification sound", tones, "system", "notification_sound"),
            choice_row(page, "Default alarm sound", tones, "system", "alarm_alert"),
            flag_row(page, "Dial pad tones", "system", "dtmf_tone"),
            flag_row(page, "Screen locking sound", "system", "lockscreen_sounds_enabled"),
            flag_row(page, "Touch sounds", "system", "sound_effects_enabled"),
            flag_row(page, "Touch vibration", "system", "haptic_feedback_enabled"),
        ),
    ]


@sub_page(
    "notifications",
    "Notifications",
    icon="bell",
    color="#B4553D",
    summary="History, conversations",
    activity=".Settings$ConfigureNotificationSettingsActivity",
    actions=("android.settings.NOTIFICATION_SETTINGS",),
)
def notifications(page: P) -> list[View]:
    """Show how notifications behave."""
    return [
        group(
            flag_row(
                page, "Notifications on lock screen", "secure", "lock_screen_show_notifications"
            ),
            flag_row(page, "Pop on screen", "global", "heads_up_notifications_enabled"),
            flag_row(page, "Do Not Disturb", "global", "zen_mode"),
            flag_row(page, "Notification dot on app icon", "secure", "notification_badging"),
            flag_row(page, "Notification history", "secure", "notification_history_enabled"),
        )
    ]


@sub_page(
    "battery",
    "Battery",
    icon="battery",
    color="#3F7F3A",
    summary="87% · about 1 day left",
    activity=".Settings$PowerUsageSummaryActivity",
    actions=(
        "android.intent.action.POWER_USAGE_SUMMARY",
        "android.settings.BATTERY_SAVER_SETTINGS",
    ),
)
def battery(page: P) -> list[View]:
    """Show the battery."""
    level = page.host.battery()
    return [
        ui.column(
            text(f"{level}%", TextStyle(52, 400), id="battery_percent"),
            ui.progress(level / 100, height=10, id="battery_progress"),
            text("About 1 day left", TextStyle(15, 400, "text2")),
            pad=ui.edges(24, 6),
            gap=10,
            margin=(0, 0, 0, 18),
        ),
        group(
            flag_row(
                page,
                "Battery Saver",
                "global",
                "low_power",
                icon_name="battery_saver",
                summary="Limits background activity",
            ),
            flag_row(
                page,
                "Battery percentage",
                "system",
                "status_bar_show_battery_percent",
                summary="Show battery percentage in status bar",
            ),
            flag_row(page, "Adaptive Battery", "global", "adaptive_battery_management_enabled"),
        ),
    ]


@sub_page(
    "storage",
    "Storage",
    icon="storage",
    color="#2B7A8C",
    summary="41% used · 75 GB free",
    activity=".Settings$StorageDashboardActivity",
    actions=("android.settings.INTERNAL_STORAGE_SETTINGS",),
)
def storage(page: P) -> list[View]:
    """Show what uses the storage."""
    kinds = (
        ("Apps", 0.16, "apps"),
        ("Images", 0.09, "image"),
        ("Videos", 0.05, "videocam"),
        ("Audio", 0.02, "music"),
        ("Documents", 0.01, "file"),
        ("System", 0.08, "phone"),
    )
    return [
        ui.column(
            text("52 GB used of 128 GB", TextStyle(20, 400)),
            ui.progress(0.41, height=10),
            pad=ui.edges(24, 6),
            gap=12,
            margin=(0, 0, 0, 16),
        ),
        group(
            *(
                preference(
                    n,
                    summary=f"{part * 128:.1f} GB",
                    icon_name=i,
                    key=f"row {n}",
                    on_click=lambda: None,
                )
                for n, part, i in kinds
            )
        ),
    ]


@sub_page(
    "wallpaper",
    "Wallpaper & style",
    icon="palette",
    color="#7A5AA8",
    summary="Colors, themed icons, app grid",
)
def wallpaper(page: P) -> list[View]:
    """Show the theme."""
    return [
        group(
            flag_row(page, "Dark theme", "secure", "ui_night_mode", off="1", on="2"),
            flag_row(page, "Themed icons", "secure", "themed_icons"),
        ),
        note("The wallpaper of this phone comes from its seed."),
    ]


@sub_page(
    "accessibility",
    "Accessibility",
    icon="person",
    color="#3557B7",
    summary="Display, interaction, audio",
    activity=".Settings$AccessibilitySettingsActivity",
    actions=("android.settings.ACCESSIBILITY_SETTINGS",),
)
def accessibility(page: P) -> list[View]:
    """Show aids."""
    return [
        group(
            choice_row(
                page,
                "Font size",
                [("0.85", "Small"), ("1.0", "Default"), ("1.15", "Large"), ("1.3", "Largest")],
                "system",
                "font_scale",
                "1.0",
            ),
            flag_row(page, "Color inversion", "secure", "accessibility_display_inversion_enabled"),
            flag_row(
                page, "Remove animations", "global", "transition_animation_scale", off="1.0", on="0"
            ),
            flag_row(
                page, "Color correction", "secure", "accessibility_display_daltonizer_enabled"
            ),
            flag_row(page, "Large mouse pointer", "secure", "accessibility_large_pointer_icon"),
            flag_row(page, "Mono audio", "system", "master_mono"),
        )
    ]


@sub_page(
    "security",
    "Security & privacy",
    icon="security",
    color="#2F7D6B",
    summary="App security, device lock",
    activity=".Settings$SecurityDashboardActivity",
    actions=("android.settings.SECURITY_SETTINGS", "android.settings.PRIVACY_SETTINGS"),
)
def security(page: P) -> list[View]:
    """Show locks and privacy."""
    return [
        group(
            flag_row(
                page,
                "Screen lock",
                "secure",
                "lockscreen.disabled",
                off="1",
                on="0",
                summary="Swipe",
                icon_name="lock",
            ),
            flag_row(
                page,
                "Camera access",
                "secure",
                "camera_access",
                icon_name="camera",
                summary="Available to apps with permission",
            ),
            flag_row(
                page,
                "Microphone access",
                "secure",
                "mic_access",
                icon_name="mic",
                summary="Available to apps with permission",
            ),
            flag_row(
                page,
                "Show clipboard access",
                "secure",
                "clipboard_show_access_notifications",
                icon_name="copy",
            ),
            flag_row(page, "Show passwords", "system", "show_password", icon_name="eye"),
        )
    ]


@sub_page(
    "accounts",
    "Passwords & accounts",
    icon="person_add",
    color="#8A6D1F",
    summary="Saved passwords, autofill",
    activity=".Settings$AccountDashboardActivity",
    actions=("android.settings.SYNC_SETTINGS",),
)
def accounts(page: P) -> list[View]:
    """Show accounts."""
    return [
        group(
            preference(
                "casey@example.org",
                summary="Mail",
                icon_name="mail",
                on_click=lambda: page.toast("Synced just now"),
                key="row account",
            ),
            flag_row(page, "Automatically sync app data", "global", "auto_sync"),
        )
    ]


@sub_page(
    "system",
    "System",
    icon="info",
    color="#5F6675",
    summary="Languages, gestures, time, backup",
    activity=".Settings$SystemDashboardActivity",
    actions=("android.settings.LOCALE_SETTINGS", "android.settings.DATE_SETTINGS"),
)
def system(page: P) -> list[View]:
    """Show languages, time and the like."""
    return [
        group(
            preference(
                "Languages",
                summary="English (United States)",
                icon_name="language",
                on_click=lambda: page.toast("English is the only language here"),
                key="row Languages",
            ),
            preference(
                "Keyboard",
                summary="On-screen keyboard",
                icon_name="keyboard",
                on_click=lambda: page.toast("Latin keyboard"),
                key="row Keyboard",
            ),
            choice_row(
                page,
                "Navigation mode",
                [("2", "Gesture navigation"), ("0", "3-button navigation")],
                "secure",
                "navigation_mode",
                "2",
            ),
            flag_row(page, "One-handed mode", "secure", "one_handed_mode_enabled"),
        ),
        group(
            flag_row(page, "Set time automatically", "global", "auto_time"),
            flag_row(page, "Set time zone automatically", "global", "auto_time_zone"),
            flag_row(page, "Use 24-hour format", "system", "time_12_24", off="12", on="24"),
            title="Date & time",
        ),
        group(
            preference(
                "Developer options",
                icon_name="menu",
                on_click=open_sub(page, "developer"),
                key="row Developer options",
            ),
            preference(
                "Reset options",
                icon_name="restart",
                key="row Reset options",
                on_click=lambda: page.toast("Use virtual-phone reset"),
            ),
        ),
    ]


@sub_page(
    "developer",
    "Developer options",
    icon="settings",
    parent="system",
    activity=".Settings$DevelopmentSettingsDashboardActivity",
    actions=("android.settings.APPLICATION_DEVELOPMENT_SETTINGS",),
)
def developer(page: P) -> list[View]:
    """Show developer options."""
    scales = [
        ("0", "Animation off"),
        ("0.5", "Animation scale .5x"),
        ("1.0", "Animation scale 1x"),
        ("2", "Animation scale 2x"),
    ]
    return [
        group(
            flag_row(page, "USB debugging", "global", "adb_enabled"),
            flag_row(page, "Stay awake", "global", "stay_on_while_plugged_in", on="7"),
            flag_row(page, "Show taps", "system", "show_touches"),
            flag_row(page, "Pointer location", "system", "pointer_location"),
            choice_row(page, "Window animation scale", scales, "global", "window_animation_scale"),
            choice_row(
                page, "Transition animation scale", scales, "global", "transition_animation_scale"
            ),
            choice_row(
                page, "Animator duration scale", scales, "global", "animator_duration_scale"
            ),
        )
    ]


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
    props = page.host.properties
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
            fact("Display", f"{page.host.width} × {page.host.height}, {page.host.density} dpi"),
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

    page.show_dialog(
        alert(
            "Device name",
            "",
            ui.button("Cancel", cancel, look="text"),
            ui.button("OK", keep, look="text"),
            body=ui.field(
                "device_name",
                value=name,
                style=ui.BODY_LARGE,
                id="android:id/edit",
                fill="surface2",
                radius=14,
                height=54,
                pad=ui.edges(16, 0),
                margin=(0, 16, 0, 0),
                on_submit=lambda _t: keep(),
            ),
        ),
        cancel,
    )
