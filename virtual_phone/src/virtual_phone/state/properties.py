"""System properties: what `getprop` and `setprop` see.

A table of plausible values of one phone model; not a property service: nothing restarts when a
value changes. Invariant: `ro.*` keys never change after construction, as on a real phone.
"""

import hashlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.well_formed import well_formed

if TYPE_CHECKING:
    from virtual_phone.android.version import Android
    from virtual_phone.state.profiles import Profile

DEVICE = "vphone"
VALUE_LIMIT = 92  # PROP_VALUE_MAX: longer values are refused for keys that are not `ro.*`.


class Properties(MutableMapping[str, str]):
    """Hold one phone's properties; read-only for `ro.*`, free for the rest."""

    def __init__(self, base: Mapping[str, str]) -> None:
        self._base = dict(base)
        self._changed: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        if key in self._changed:
            return self._changed[key]
        return self._base[key]

    def __setitem__(self, key: str, value: str) -> None:
        """Set a property, as `setprop` does.

        Raises:
            PhoneError: the key is read-only or empty, or the value is too long or no text.
        """
        if not key or key.startswith("ro."):
            raise PhoneError(
                f"Failed to set property '{key}' to '{value}': it is read-only.",
                "Set a key that does not start with ro.",
            )
        if len(value.encode("utf-8", "replace")) >= VALUE_LIMIT:
            raise PhoneError(
                f"Failed to set property '{key}': over {VALUE_LIMIT - 1} bytes.",
                "Give a shorter value.",
            )
        if well_formed(key + value) != key + value:
            raise PhoneError(
                f"Failed to set property '{key}': it is not UTF-8.", "Give text as key and value."
            )
        self._changed[key] = value

    def __delitem__(self, key: str) -> None:
        if key.startswith("ro."):
            raise PhoneError(f"Property '{key}' is read-only.", "Remove another key.")
        self._changed.pop(key, None)
        self._base.pop(key, None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({**self._base, **self._changed}))

    def __len__(self) -> int:
        return len({**self._base, **self._changed})

    def set_base(self, values: Mapping[str, str]) -> None:
        """Set what the device was built with, before it boots."""
        self._base.update(values)

    def overrides(self) -> dict[str, str]:
        """Return what `setprop` changed, for the saved state."""
        return dict(self._changed)

    def load_overrides(self, overrides: Mapping[str, str]) -> None:
        """Replace every changed value by the saved ones."""
        self._changed = dict(overrides)


def serial_of(name: str, seed: int) -> str:
    """Return the hardware serial number of the phone called `name`: twelve hex digits."""
    return hashlib.sha256(f"{name}/{seed}".encode()).hexdigest()[:12].upper()


def build_properties(profile: "Profile", android: "Android") -> dict[str, str]:
    """Return what a kind of phone with a version was built with."""
    release, build, number = android.release, android.build_id, android.incremental
    fingerprint = f"{profile.brand}/{DEVICE}/{DEVICE}:{release}/{build}/{number}:user/release-keys"
    screen = profile.screens[0]
    values = {
        "ro.build.characteristics": profile.characteristics,
        "ro.build.date": android.built,
        "ro.build.date.utc": str(android.built_s),
        "ro.build.description": f"{DEVICE}-user {release} {build} {number} release-keys",
        "ro.build.display.id": build,
        "ro.build.id": build,
        "ro.build.version.incremental": number,
        "ro.build.version.release": release,
        "ro.build.version.sdk": str(android.sdk),
        "ro.build.version.security_patch": android.security_patch,
        "ro.product.first_api_level": str(android.sdk),
        "ro.sf.lcd_density": str(screen.density),
        "ro.system.build.version.release": release,
        "ro.system.build.version.sdk": str(android.sdk),
        "ro.virtual_phone.display": f"{screen.width}x{screen.height}",
        "ro.vndk.version": str(android.sdk),
    }
    for part in ("", "bootimage.", "system.", "vendor."):
        values[f"ro.{part}build.fingerprint"] = fingerprint
    values["ro.product.build.fingerprint"] = fingerprint
    for part in ("", "system.", "vendor."):
        values[f"ro.product.{part}brand"] = profile.brand
        values[f"ro.product.{part}manufacturer"] = profile.manufacturer
        values[f"ro.product.{part}model"] = profile.model
    if android.can("release_or_codename"):
        values["ro.build.version.release_or_codename"] = release
    return values | profile.properties


def factory_properties(name: str, seed: int) -> Properties:
    """Return the properties that every new phone boots with; `build_properties` has the others."""
    values = {
        "dalvik.vm.heapgrowthlimit": "256m",
        "dalvik.vm.heapsize": "512m",
        "dalvik.vm.heapstartsize": "16m",
        "debug.sf.nobootanimation": "1",
        "dev.bootcomplete": "1",
        "gsm.current.phone-type": "1",
        "gsm.network.type": "LTE",
        "gsm.operator.alpha": "Linewire",
        "gsm.operator.iso-country": "us",
        "gsm.operator.isroaming": "false",
        "gsm.operator.numeric": "00101",
        "gsm.sim.operator.alpha": "Linewire",
        "gsm.sim.operator.iso-country": "us",
        "gsm.sim.operator.numeric": "00101",
        "gsm.sim.state": "LOADED",
        "init.svc.adbd": "running",
        "init.svc.bootanim": "stopped",
        "init.svc.surfaceflinger": "running",
        "init.svc.zygote": "running",
        "net.bt.name": "Android",
        "persist.sys.dalvik.vm.lib.2": "libart.so",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "UTC",
        "persist.sys.usb.config": "adb",
        "ro.virtual_phone.scrcpy": "1",
        "ro.adb.secure": "1",
        "ro.allow.mock.location": "0",
        "ro.baseband": "unknown",
        "ro.board.platform": DEVICE,
        "ro.boot.hardware": DEVICE,
        "ro.boot.qemu": "0",
        "ro.boot.serialno": serial_of(name, seed),
        "ro.boot.verifiedbootstate": "green",
        "ro.bootloader": "unknown",
        "ro.bootmode": "normal",
        "ro.build.ab_update": "true",
        "ro.build.flavor": f"{DEVICE}-user",
        "ro.build.host": "build",
        "ro.build.product": DEVICE,
        "ro.build.tags": "release-keys",
        "ro.build.type": "user",
        "ro.build.user": "build",
        "ro.build.version.all_codenames": "REL",
        "ro.build.version.base_os": "",
        "ro.build.version.codename": "REL",
        "ro.build.version.min_supported_target_sdk": "28",
        "ro.build.version.preview_sdk": "0",
        "ro.carrier": "unknown",
        "ro.com.google.clientidbase": "android-virtual-phone",
        "ro.config.alarm_alert": "Morning.ogg",
        "ro.config.notification_sound": "Chime.ogg",
        "ro.config.ringtone": "Bells.ogg",
        "ro.crypto.state": "encrypted",
        "ro.crypto.type": "file",
        "ro.debuggable": "0",
        "ro.hardware": DEVICE,
        "ro.kernel.version": "6.1",
        "ro.opengles.version": "196610",
        "ro.product.board": DEVICE,
        "ro.product.cpu.abi": "x86_64",
        "ro.product.cpu.abilist": "x86_64,arm64-v8a",
        "ro.product.cpu.abilist32": "",
        "ro.product.cpu.abilist64": "x86_64,arm64-v8a",
        "ro.product.device": DEVICE,
        "ro.product.locale": "en-US",
        "ro.product.name": DEVICE,
        "ro.product.system.device": DEVICE,
        "ro.product.system.name": DEVICE,
        "ro.product.vendor.device": DEVICE,
        "ro.product.vendor.name": DEVICE,
        "ro.property_service.version": "2",
        "ro.revision": "0",
        "ro.secure": "1",
        "ro.serialno": serial_of(name, seed),
        "ro.surface_flinger.max_virtual_display_dimension": "4096",
        "ro.virtual_phone.name": name,
        "ro.treble.enabled": "true",
        "ro.wifi.channels": "",
        "ro.zygote": "zygote64",
        "selinux.restorecon_recursive": "/data/misc_ce/0",
        "service.bootanim.exit": "1",
        "sys.boot.reason": "reboot",
        "sys.boot_completed": "1",
        "sys.usb.config": "adb",
        "sys.usb.state": "adb",
        "vold.has_adoptable": "0",
        "wifi.interface": "wlan0",
        "wlan.driver.status": "ok",
    }
    return Properties(values)
