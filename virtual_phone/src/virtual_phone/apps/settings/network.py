"""The pages of Settings about radios: network, Wi-Fi, Bluetooth, connected devices, location.

Pages only; the frame is in `settings.app`. Invariant: a radio that is off finds nothing.
"""

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings.app import flag_row, main_switch, open_sub, sub_page
from virtual_phone.apps.settings.tables import choice, flag, hint, link, section, table, toast_row
from virtual_phone.ui.patterns import ask_text, group, note, preference, text_box
from virtual_phone.ui.views import View
from virtual_phone.ui.vocabulary import icon

P = Page[NoState]

WIFI_NETWORKS = (
    ("Linewire Home", True),
    ("Corner Cafe Guest", False),
    ("Lakehouse", True),
    ("printer-5f2a", True),
    ("Station WiFi", False),
)
PREFERENCES = toast_row(
    "Network preferences",
    "Nothing to change",
    "Wi‑Fi turns back on automatically",
    key="preferences",
)
SAVED = toast_row("Saved networks", "Linewire Home, Lakehouse", "2 networks", key="saved")
ROUTING = (
    flag(
        "Data Saver",
        "global data_saver",
        icon_name="data",
        summary="Keeps some apps from using data in the background",
    ),
    toast_row("VPN", "No VPN is set up", "None", "lock"),
    choice(
        "Private DNS",
        "global private_dns_mode",
        [("off", "Off"), ("opportunistic", "Automatic")],
        "opportunistic",
    ),
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
            *(row(page) for row in ROUTING),
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
        rows.append(group(PREFERENCES(page), SAVED(page)))
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

    box = text_box("wifi_password", hint="Password", id="password", password=True)
    page.show_dialog(ask_text(name, box, cancel, "Connect", connect), cancel)


table(
    "sims",
    "SIMs",
    section(
        flag("Mobile data", "global mobile_data", summary="Access data using mobile network"),
        flag("Roaming", "global data_roaming", summary="Connect to data services when roaming"),
        choice(
            "Preferred network type",
            "global preferred_network_mode",
            [("26", "5G (recommended)"), ("9", "LTE"), ("0", "3G")],
            "26",
        ),
    ),
    icon="sim",
    parent="network",
)


def _bluetooth_tethering(page: P) -> View:
    on = page.settings.flag("global", "bluetooth_on")
    key = "bluetooth_tethering_on"
    return flag_row(page, "Bluetooth tethering", "global", key, enabled=on)


table(
    "hotspot",
    "Hotspot & tethering",
    section(
        flag("Wi‑Fi hotspot", "global hotspot_on", summary="Share internet with other devices"),
        flag(
            "USB tethering", "global usb_tethering_on", enabled=False, summary="USB not connected"
        ),
        _bluetooth_tethering,
    ),
    icon="hotspot",
    parent="network",
    activity=".Settings$TetherSettingsActivity",
    actions=("android.settings.TETHER_SETTINGS",),
)


def _pair(page: P) -> View:
    on = page.settings.flag("global", "bluetooth_on")
    wait = "" if on else "Bluetooth will turn on to pair"
    return link("Pair new device", "bluetooth", wait, "add")(page)


def _bluetooth(page: P) -> View:
    on = page.settings.flag("global", "bluetooth_on")
    return link("Bluetooth", "bluetooth", "On" if on else "Off", "bluetooth")(page)


table(
    "devices",
    "Connected devices",
    section(_pair),
    section(
        _bluetooth,
        flag(
            "NFC",
            "global nfc_on",
            icon_name="nfc",
            summary="Allow data exchange when the phone touches another device",
        ),
        toast_row("Cast", "No devices found", "Not connected", "cast"),
        toast_row("Printing", "Default print service", "1 print service on", "print"),
    ),
    icon="devices",
    color="#2F7D6B",
    summary="Bluetooth, pairing",
    activity=".Settings$ConnectedDeviceDashboardActivity",
)


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


table(
    "location",
    "Location",
    section(flag("Use location", "secure location_mode", on="3")),
    section(
        link("App location permissions", "apps", "4 of 12 apps have access"),
        flag("Wi‑Fi scanning", "global wifi_scan_always_enabled"),
        flag("Bluetooth scanning", "global ble_scan_always_enabled"),
    ),
    hint("Location may use sources like GPS, Wi‑Fi, mobile networks and sensors."),
    icon="location",
    color="#3F7F3A",
    summary="On · 4 apps have access",
    activity=".Settings$LocationSettingsActivity",
    actions=("android.settings.LOCATION_SOURCE_SETTINGS",),
)
