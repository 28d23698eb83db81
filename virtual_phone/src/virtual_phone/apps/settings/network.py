"""The pages of Settings about radios: network, Wi-Fi, Bluetooth, connected devices, location.

Pages only; the frame is in `settings`. Invariant: a radio that is off shows nothing it could find.
"""

from __future__ import annotations

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings.app import (
    choice_row,
    flag_row,
    link_row,
    main_switch,
    open_sub,
    sub_page,
)
from virtual_phone.ui.patterns import alert, group, note, preference
from virtual_phone.ui.views import View
from virtual_phone.ui.vocabulary import BODY_LARGE, button, edges, field, icon

P = Page[NoState]

WIFI_NETWORKS = (
    ("Linewire Home", True),
    ("Corner Cafe Guest", False),
    ("Lakehouse", True),
    ("printer-5f2a", True),
    ("Station WiFi", False),
)
BLUETOOTH_DEVICES = (("Kitchen Speaker", "sound"), ("Car Audio", "sound"), ("Trail Watch", "clock"))


@sub_page(
    "network",
    "Network & internet",
    icon="wifi",
    color="#3B6EA8",
    summary="Wi‑Fi, mobile, hotspot",
    activity=".Settings$NetworkDashboardActivity",
    actions=("android.settings.WIRELESS_SETTINGS", "android.settings.AIRPLANE_MODE_SETTINGS"),
)
def network(page: P) -> list[View]:
    """Show the radios."""
    s = page.settings
    airplane = s.flag("global", "airplane_mode_on")
    connected = s.get("global", "wifi_ssid") or "Linewire Home"
    return [
        group(
            preference(
                "Internet",
                summary=connected
                if s.flag("global", "wifi_on")
                else "Networks available"
                if not airplane
                else "Airplane mode is on",
                icon_name="wifi",
                on_click=open_sub(page, "wifi"),
                key="row Internet",
            ),
            preference(
                "SIMs",
                summary="Linewire" if not airplane else "Airplane mode is on",
                icon_name="sim",
                on_click=open_sub(page, "sims"),
                enabled=not airplane,
                key="row SIMs",
            ),
        ),
        group(
            flag_row(page, "Airplane mode", "global", "airplane_mode_on", icon_name="airplane"),
            preference(
                "Hotspot & tethering",
                summary="On" if s.flag("global", "hotspot_on") else "Off",
                icon_name="hotspot",
                on_click=open_sub(page, "hotspot"),
                key="row Hotspot",
            ),
            flag_row(
                page,
                "Data Saver",
                "global",
                "data_saver",
                icon_name="data",
                summary="Keeps some apps from using data in the background",
            ),
            preference(
                "VPN",
                summary="None",
                icon_name="lock",
                on_click=lambda: page.toast("No VPN is set up"),
                key="row VPN",
            ),
            choice_row(
                page,
                "Private DNS",
                [("off", "Off"), ("opportunistic", "Automatic")],
                "global",
                "private_dns_mode",
                "opportunistic",
            ),
        ),
    ]


@sub_page(
    "wifi",
    "Internet",
    icon="wifi",
    parent="network",
    activity=".Settings$WifiSettingsActivity",
    actions=("android.settings.WIFI_SETTINGS", "android.net.wifi.PICK_WIFI_NETWORK"),
)
def wifi(page: P) -> list[View]:
    """Show Wi-Fi and the networks around."""
    s = page.settings
    on = s.flag("global", "wifi_on")
    connected = s.get("global", "wifi_ssid") or "Linewire Home"
    chosen = page.local("network")
    if chosen:
        _ask_password(page, chosen)

    def network_row(name: str, closed: bool) -> View:
        here = name == connected

        def act() -> None:
            if here:
                page.toast(f"Connected to {name}")
            elif closed:
                page.set("network", name)
            else:
                s.put("global", "wifi_ssid", name)

        return preference(
            name,
            summary="Connected" if here else "",
            icon_name="wifi",
            on_click=act,
            trailing=icon("lock", 18, "text3") if closed and not here else None,
            key=f"network {name}",
        )

    rows: list[View] = [group(flag_row(page, "Wi‑Fi", "global", "wifi_on"))]
    if on:
        ordered = sorted(WIFI_NETWORKS, key=lambda n: n[0] != connected)
        rows.append(group(*(network_row(*n) for n in ordered)))
        rows.append(
            group(
                preference(
                    "Network preferences",
                    summary="Wi‑Fi turns back on automatically",
                    on_click=lambda: page.toast("Nothing to change"),
                    key="row preferences",
                ),
                preference(
                    "Saved networks",
                    summary="2 networks",
                    on_click=lambda: page.toast("Linewire Home, Lakehouse"),
                    key="row saved",
                ),
            )
        )
    else:
        rows.append(note("To see available networks, turn on Wi‑Fi."))
    return rows


def _ask_password(page: P, name: str) -> None:
    def cancel() -> None:
        page.set("network", "")
        page.set_field("wifi_password", "")

    def connect() -> None:
        if len(page.field("wifi_password")) < 8:
            page.toast("The password has at least 8 characters")
            return
        page.settings.put("global", "wifi_ssid", name)
        page.set("network", "")
        page.set_field("wifi_password", "")

    page.show_dialog(
        alert(
            name,
            "",
            button("Cancel", cancel, look="text"),
            button("Connect", connect, look="text"),
            body=field(
                "wifi_password",
                hint="Password",
                password=True,
                style=BODY_LARGE,
                id="password",
                fill="surface2",
                radius=14,
                height=54,
                pad=edges(16, 0),
                margin=(0, 16, 0, 0),
                on_submit=lambda _t: connect(),
            ),
        ),
        cancel,
    )


@sub_page("sims", "SIMs", icon="sim", parent="network")
def sims(page: P) -> list[View]:
    """Show the SIM and mobile data."""
    return [
        group(
            flag_row(
                page,
                "Mobile data",
                "global",
                "mobile_data",
                summary="Access data using mobile network",
            ),
            flag_row(
                page,
                "Roaming",
                "global",
                "data_roaming",
                summary="Connect to data services when roaming",
            ),
            choice_row(
                page,
                "Preferred network type",
                [("26", "5G (recommended)"), ("9", "LTE"), ("0", "3G")],
                "global",
                "preferred_network_mode",
                "26",
            ),
        )
    ]


@sub_page(
    "hotspot",
    "Hotspot & tethering",
    icon="hotspot",
    parent="network",
    activity=".Settings$TetherSettingsActivity",
    actions=("android.settings.TETHER_SETTINGS",),
)
def hotspot(page: P) -> list[View]:
    """Show the hotspot."""
    return [
        group(
            flag_row(
                page,
                "Wi‑Fi hotspot",
                "global",
                "hotspot_on",
                summary="Share internet with other devices",
            ),
            flag_row(
                page,
                "USB tethering",
                "global",
                "usb_tethering_on",
                enabled=False,
                summary="USB not connected",
            ),
            flag_row(
                page,
                "Bluetooth tethering",
                "global",
                "bluetooth_tethering_on",
                enabled=page.settings.flag("global", "bluetooth_on"),
            ),
        )
    ]


@sub_page(
    "devices",
    "Connected devices",
    icon="devices",
    color="#2F7D6B",
    summary="Bluetooth, pairing",
    activity=".Settings$ConnectedDeviceDashboardActivity",
)
def devices(page: P) -> list[View]:
    """Show what can be connected."""
    on = page.settings.flag("global", "bluetooth_on")
    return [
        group(
            preference(
                "Pair new device",
                icon_name="add",
                on_click=open_sub(page, "bluetooth"),
                summary="" if on else "Bluetooth will turn on to pair",
                key="row Pair new device",
            )
        ),
        group(
            preference(
                "Bluetooth",
                summary="On" if on else "Off",
                icon_name="bluetooth",
                on_click=open_sub(page, "bluetooth"),
                key="row Bluetooth",
            ),
            flag_row(
                page,
                "NFC",
                "global",
                "nfc_on",
                icon_name="nfc",
                summary="Allow data exchange when the phone touches another device",
            ),
            preference(
                "Cast",
                summary="Not connected",
                icon_name="cast",
                on_click=lambda: page.toast("No devices found"),
                key="row Cast",
            ),
            preference(
                "Printing",
                summary="1 print service on",
                icon_name="print",
                on_click=lambda: page.toast("Default print service"),
                key="row Printing",
            ),
        ),
    ]


@sub_page(
    "bluetooth",
    "Bluetooth",
    icon="bluetooth",
    parent="devices",
    activity=".Settings$BluetoothSettingsActivity",
    actions=("android.settings.BLUETOOTH_SETTINGS",),
)
def bluetooth(page: P) -> list[View]:
    """Show Bluetooth and the devices around."""
    s = page.settings
    on = s.flag("global", "bluetooth_on")
    paired = [d for d in (s.get("global", "bluetooth_paired") or "Trail Watch").split("|") if d]
    rows: list[View] = [main_switch(page, "Use Bluetooth", "global", "bluetooth_on")]

    def pair(name: str) -> None:
        s.put("global", "bluetooth_paired", "|".join([*paired, name]))
        page.toast(f"Paired with {name}")

    def forget(name: str) -> None:
        s.put("global", "bluetooth_paired", "|".join(d for d in paired if d != name) or "|")
        page.toast(f"{name} forgotten")

    if not on:
        rows.append(note("When Bluetooth is on, this phone can talk to devices nearby."))
        return rows
    kinds = dict(BLUETOOTH_DEVICES)
    if paired:
        rows.append(
            group(
                *(
                    preference(
                        d,
                        summary="Saved",
                        icon_name=kinds.get(d, "devices"),
                        on_click=lambda d=d: forget(d),  # type: ignore[misc]
                        key=f"paired {d}",
                    )
                    for d in paired
                ),
                title="Saved devices",
            )
        )
    fresh = [d for d in BLUETOOTH_DEVICES if d[0] not in paired]
    if fresh:
        rows.append(
            group(
                *(
                    preference(
                        d,
                        icon_name=k,
                        on_click=lambda d=d: pair(d),  # type: ignore[misc]
                        key=f"found {d}",
                    )
                    for d, k in fresh
                ),
                title="Available devices",
            )
        )
    rows.append(
        group(
            preference(
                "Device name",
                summary=s.get("global", "device_name") or "Virtual Phone",
                on_click=open_sub(page, "about"),
                key="row Device name",
            )
        )
    )
    return rows


@sub_page(
    "location",
    "Location",
    icon="location",
    color="#3F7F3A",
    summary="On · 4 apps have access",
    activity=".Settings$LocationSettingsActivity",
    actions=("android.settings.LOCATION_SOURCE_SETTINGS",),
)
def location(page: P) -> list[View]:
    """Show whether apps may know where the phone is."""
    return [
        group(flag_row(page, "Use location", "secure", "location_mode", on="3")),
        group(
            preference(
                "App location permissions",
                summary="4 of 12 apps have access",
                on_click=open_sub(page, "apps"),
                key="row App location permissions",
            ),
            flag_row(page, "Wi‑Fi scanning", "global", "wifi_scan_always_enabled"),
            flag_row(page, "Bluetooth scanning", "global", "ble_scan_always_enabled"),
        ),
        note("Location may use sources like GPS, Wi‑Fi, mobile networks and sensors."),
    ]


__all__ = ["bluetooth", "devices", "hotspot", "link_row", "location", "network", "sims", "wifi"]
