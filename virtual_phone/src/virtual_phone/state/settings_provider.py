"""The settings provider: the `system`, `secure` and `global` tables that apps and `settings` share.

One truth: the Settings app, quick settings and the shell read and write the same rows. Not the
Settings app. Invariant: airplane mode switches the radios off and puts back what it switched off.
"""

from collections.abc import Callable, Mapping

from virtual_phone.errors import PhoneError

NAMESPACES = ("system", "secure", "global")

DEFAULTS: dict[str, dict[str, str]] = {
    "system": {
        "accelerometer_rotation": "0",
        "dim_screen": "1",
        "dtmf_tone": "1",
        "font_scale": "1.0",
        "haptic_feedback_enabled": "1",
        "lockscreen_sounds_enabled": "1",
        "notification_sound": "Chime",
        "ringtone": "Bells",
        "alarm_alert": "Morning",
        "screen_brightness": "128",
        "screen_brightness_mode": "0",
        "screen_off_timeout": "60000",
        "show_touches": "0",
        "pointer_location": "0",
        "sound_effects_enabled": "1",
        "status_bar_show_battery_percent": "0",
        "time_12_24": "24",
        "system_locales": "en-US",
        "user_rotation": "0",
        "vibrate_when_ringing": "0",
        "volume_alarm": "6",
        "volume_music": "8",
        "volume_notification": "5",
        "volume_ring": "5",
        "volume_voice": "4",
    },
    "secure": {
        "accessibility_enabled": "0",
        "android_id": "",
        "autofill_service": "",
        "default_input_method": "com.android.inputmethod.latin/.LatinIME",
        "enabled_accessibility_services": "",
        "enabled_input_methods": "com.android.inputmethod.latin/.LatinIME",
        "icon_blacklist": "",
        "location_mode": "3",
        "lock_screen_show_notifications": "1",
        "lockscreen.disabled": "0",
        "navigation_mode": "2",
        "show_ime_with_hard_keyboard": "1",
        "sleep_timeout": "-1",
        "ui_night_mode": "1",
        "user_setup_complete": "1",
        "night_display_activated": "0",
        "one_handed_mode_enabled": "0",
        "screensaver_enabled": "0",
    },
    "global": {
        "adb_enabled": "1",
        "airplane_mode_on": "0",
        "airplane_mode_radios": "cell,bluetooth,wifi,nfc,wimax",
        "airplane_mode_toggleable_radios": "bluetooth,wifi",
        "animator_duration_scale": "1.0",
        "auto_time": "1",
        "auto_time_zone": "1",
        "bluetooth_on": "0",
        "boot_count": "1",
        "development_settings_enabled": "1",
        "device_name": "Virtual Phone",
        "device_provisioned": "1",
        "heads_up_notifications_enabled": "1",
        "low_power": "0",
        "mobile_data": "1",
        "data_roaming": "0",
        "nfc_on": "1",
        "stay_on_while_plugged_in": "0",
        "transition_animation_scale": "1.0",
        "usb_mass_storage_enabled": "1",
        "wifi_on": "1",
        "wifi_sleep_policy": "2",
        "window_animation_scale": "1.0",
        "zen_mode": "0",
        "hotspot_on": "0",
        "flashlight_on": "0",
    },
}

_RADIOS = ("wifi_on", "bluetooth_on")
_RADIO_MEMORY = "airplane_mode_remembered_radios"


class SettingsTable:
    """Hold the three settings namespaces and tell one listener about every change."""

    def __init__(self, changed: Callable[[str, str], None] | None = None) -> None:
        self._rows: dict[str, dict[str, str]] = {ns: dict(DEFAULTS[ns]) for ns in NAMESPACES}
        self._changed = changed

    def get(self, namespace: str, key: str) -> str | None:
        """Return a value, or None where the key is unset.

        Raises:
            PhoneError: the namespace is not system, secure or global.
        """
        return self._table(namespace).get(key)

    def put(self, namespace: str, key: str, value: str) -> None:
        """Write a value, with what follows from it, and tell the listener.

        Raises:
            PhoneError: the namespace is not system, secure or global.
        """
        table = self._table(namespace)
        if table.get(key) == value:
            return
        table[key] = value
        if namespace == "global":
            self._keep_radios(key, value)
        if self._changed is not None:
            self._changed(namespace, key)

    def delete(self, namespace: str, key: str) -> int:
        """Remove a row; return how many were removed (0 or 1)."""
        removed = self._table(namespace).pop(key, None)
        if removed is None:
            return 0
        if self._changed is not None:
            self._changed(namespace, key)
        return 1

    def list(self, namespace: str) -> dict[str, str]:
        """Return a copy of a namespace, sorted by key."""
        return dict(sorted(self._table(namespace).items()))

    def flag(self, namespace: str, key: str) -> bool:
        """Return whether a row holds a number other than zero."""
        return self.get(namespace, key) not in (None, "", "0", "false")

    def set_flag(self, namespace: str, key: str, on: bool) -> None:
        """Write 1 or 0."""
        self.put(namespace, key, "1" if on else "0")

    @property
    def dark(self) -> bool:
        return self.get("secure", "ui_night_mode") == "2"

    def set_dark(self, on: bool) -> None:
        """Switch the dark theme."""
        self.put("secure", "ui_night_mode", "2" if on else "1")

    def number(self, namespace: str, key: str, default: float) -> float:
        """Return a row as a number, `default` where it is unset or not a number."""
        try:
            value = float(self.get(namespace, key) or default)
        except ValueError:
            return default
        return value if value == value and abs(value) != float("inf") else default

    def differences(self) -> dict[str, dict[str, str | None]]:
        """Return the rows that differ from the factory's; None marks a removed one."""
        found: dict[str, dict[str, str | None]] = {}
        for ns in NAMESPACES:
            rows, base = self._rows[ns], DEFAULTS[ns]
            changed: dict[str, str | None] = {k: v for k, v in rows.items() if base.get(k) != v}
            changed |= {k: None for k in base if k not in rows}
            if changed:
                found[ns] = changed
        return found

    def load_differences(self, differences: Mapping[str, Mapping[str, str | None]]) -> None:
        """Go back to the factory's rows and apply saved differences; the listener is not told."""
        self._rows = {ns: dict(DEFAULTS[ns]) for ns in NAMESPACES}
        for ns, changed in differences.items():
            table = self._table(ns)
            for key, value in changed.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value

    def _table(self, namespace: str) -> dict[str, str]:
        try:
            return self._rows[namespace]
        except KeyError:
            raise PhoneError(
                f"Invalid namespace '{namespace}'.", "Use system, secure or global."
            ) from None

    def _keep_radios(self, key: str, value: str) -> None:
        table = self._rows["global"]
        if key == "airplane_mode_on":
            if value not in ("", "0"):
                table[_RADIO_MEMORY] = ",".join(r for r in _RADIOS if self.flag("global", r))
                for radio in _RADIOS:
                    table[radio] = "0"
            else:
                for radio in table.pop(_RADIO_MEMORY, "").split(","):
                    if radio in _RADIOS:
                        table[radio] = "1"
