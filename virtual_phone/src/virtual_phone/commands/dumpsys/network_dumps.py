"""`dumpsys wifi`, `connectivity`, `user` and `trust`, in the lines that programs look for.

Not all that these services print. Formats: the dumps of Android 14's WifiServiceImpl,
ConnectivityService, UserManagerService and TrustManagerService. Invariant: each line tells a state
that the phone really has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone import lock
from virtual_phone.commands.network import WLAN_ADDRESS, WLAN_MAC

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

FIRST_NETWORK = "Linewire Home"  # What the phone is connected to until another network is chosen.
ROUTER_MAC = "02:15:b2:00:01:00"
WIFI_NETWORK, CELL_NETWORK = 100, 101
_USER_FLAGS = (
    *((0x2, "ADMIN"), (0x400, "FULL"), (0x10, "INITIALIZED"), (0x4000, "MAIN")),
    *((0x20, "MANAGED_PROFILE"), (0x1, "PRIMARY"), (0x1000, "PROFILE"), (0x800, "SYSTEM")),
)
"""Of android.content.pm.UserInfo, in the order in which they are written."""
_WIFI_ABILITIES = "NOT_METERED&INTERNET&NOT_RESTRICTED&TRUSTED&NOT_VPN&VALIDATED&NOT_ROAMING"
_CELL_ABILITIES = "INTERNET&NOT_RESTRICTED&TRUSTED&NOT_VPN&VALIDATED&NOT_ROAMING"


def network_name(phone: Phone) -> str:
    """Return the name of the Wi-Fi network that the phone is connected to when Wi-Fi is on."""
    return phone.settings.get("global", "wifi_ssid") or FIRST_NETWORK


def dump_wifi(phone: Phone, words: list[str]) -> str:
    """Return the report of the Wi-Fi service."""
    del words
    on = phone.settings.flag("global", "wifi_on")
    if on:
        info = (
            f'SSID: "{network_name(phone)}", BSSID: {ROUTER_MAC}, MAC: {WLAN_MAC}, '
            f"IP: /{WLAN_ADDRESS}, Security type: 2, Supplicant state: COMPLETED, "
            "Wi-Fi standard: 11ac, RSSI: -52, Link speed: 433Mbps, Frequency: 5180MHz, Net ID: 0"
        )
    else:
        info = (
            "SSID: <unknown ssid>, BSSID: <none>, MAC: 02:00:00:00:00:00, IP: null, "
            "Security type: -1, Supplicant state: DISCONNECTED"
        )
    state = "CONNECTED/CONNECTED" if on else "DISCONNECTED/DISCONNECTED"
    return "\n".join(
        [
            f"Wi-Fi is {'enabled' if on else 'disabled'}",
            "Verbose logging is off",
            f"mAirplaneModeOn {str(phone.settings.flag('global', 'airplane_mode_on')).lower()}",
            f"mWifiInfo {info}",
            f"mNetworkInfo [type: WIFI[], state: {state}, reason: (unspecified), extra: (none), "
            f"failover: false, available: {str(on).lower()}, roaming: false]",
        ]
    )


def dump_connectivity(phone: Phone, words: list[str]) -> str:
    """Return the report of the connectivity service: Wi-Fi is preferred to mobile data."""
    del words
    wifi = phone.settings.flag("global", "wifi_on")
    off = phone.settings.flag("global", "airplane_mode_on")
    cell = phone.settings.flag("global", "mobile_data") and not off
    networks: list[tuple[int, str, str, str]] = []
    if wifi:
        networks.append((WIFI_NETWORK, "WIFI", "wlan0", _WIFI_ABILITIES))
    if cell:
        networks.append((CELL_NETWORK, "CELLULAR", "rmnet0", _CELL_ABILITIES))
    kinds = {"WIFI": "WIFI", "CELLULAR": "MOBILE[LTE]"}
    return "\n".join(
        [
            f"Active default network: {networks[0][0] if networks else 'none'}",
            "",
            "Current Networks:",
            *(
                f"  NetworkAgentInfo{{network{{{number}}}  ni{{{kinds[kind]} CONNECTED extra: }}  "
                f"lp{{{{InterfaceName: {device}}}}}  nc{{[ Transports: {kind} "
                f"Capabilities: {abilities} ]}}}}"
                for number, kind, device, abilities in networks
            ),
        ]
    )


def dump_user(phone: Phone, words: list[str]) -> str:
    """Return the report of the user manager."""
    del words
    rows = ["Current user: 0", "Users:"]
    for user in phone.form_factor.profile.users:
        flags = int(user.flags, 16)
        named = "|".join(name for bit, name in _USER_FLAGS if flags & bit)
        rows += [
            f"  UserInfo{{{user.id}:{user.name}:{user.flags}}} serialNo={user.id} "
            f"isPrimary={str(user.id == 0).lower()}",
            f"    Type: android.os.usertype.{user.type}",
            f"    Flags: {flags} ({named})",
            "    State: RUNNING_UNLOCKED",
        ]
    return "\n".join(rows)


def dump_trust(phone: Phone, words: list[str]) -> str:
    """Return the report of the trust manager: only a secret makes a phone a locked device."""
    del words
    locked = int(phone.power.locked and lock.is_secure(phone))
    return "\n".join(
        [
            "Trust manager state:",
            ' User "Owner" (id=0, flags=0x4c13) (current): trustState=UNTRUSTED, trustManaged=0, '
            f"deviceLocked={locked}, isActiveUnlockRunning=0, strongAuthRequired=0x0",
            "   Enabled agents:",
            "   Events:",
        ]
    )
