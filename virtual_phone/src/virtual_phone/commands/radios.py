"""`svc` and `cmd wifi|bluetooth_manager|nfc|connectivity|phone`: what the phone's radios are told.

There is no radio. Invariant: a switch is a row of the settings, so the Settings app shows it.
"""

from virtual_phone.shell.call import Call, CommandError, command


async def radio_command(call: Call, service: str, words: list[str]) -> int:
    """Run `cmd SERVICE …` of a radio's service."""
    settings = call.phone.settings
    match service, words:
        case "bluetooth_manager", ["enable" | "disable"]:
            settings.set_flag("global", "bluetooth_on", words[0] == "enable")
        case "nfc", ["enable-nfc" | "disable-nfc"]:
            settings.set_flag("global", "nfc_on", words[0] == "enable-nfc")
        case "wifi", ["set-wifi-enabled", "enabled" | "disabled"]:
            settings.set_flag("global", "wifi_on", words[1] == "enabled")
        case "wifi", ["status"]:
            on = settings.flag("global", "wifi_on")
            await call.line(f"Wifi is {'enabled' if on else 'disabled'}")
        case "phone", ["data", "enable" | "disable"]:
            settings.set_flag("global", "mobile_data", words[1] == "enable")
        case "connectivity", ["airplane-mode"]:
            on = settings.flag("global", "airplane_mode_on")
            await call.line("enabled" if on else "disabled")
        case "connectivity", ["airplane-mode", "enable" | "disable"]:
            settings.set_flag("global", "airplane_mode_on", words[1] == "enable")
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


SVC_USAGE = """Available commands:
    help     Show information about the subcommands
    power    Control the power manager
    data     Control mobile data connectivity
    wifi     Control the Wi-Fi manager
    nfc      Control NFC functions
    bluetooth Control Bluetooth service"""


@command("svc", java=True)
async def svc(call: Call) -> int:
    """Switch radios and keep the screen on."""
    settings = call.phone.settings
    match call.args:
        case ["wifi", "enable" | "disable" as verb]:
            settings.set_flag("global", "wifi_on", verb == "enable")
        case ["bluetooth", "enable" | "disable" as verb]:
            settings.set_flag("global", "bluetooth_on", verb == "enable")
        case ["nfc", "enable" | "disable" as verb]:
            settings.set_flag("global", "nfc_on", verb == "enable")
        case ["data", "enable" | "disable" as verb]:
            settings.set_flag("global", "mobile_data", verb == "enable")
        case ["power", "stayon", mode]:
            values = {"true": "7", "false": "0", "usb": "2", "ac": "1", "wireless": "4"}
            if mode not in values:
                raise CommandError("usage: svc power stayon [true|false|usb|ac|wireless|dock]", 1)
            settings.put("global", "stay_on_while_plugged_in", values[mode])
        case ["power", "reboot", *_] | ["power", "shutdown", *_]:
            if call.userland.on_reboot is None:
                raise CommandError("svc: the phone cannot reboot now")
            call.userland.on_reboot("")
        case ["help"] | []:
            await call.line(SVC_USAGE)
        case _:
            raise CommandError(f"Invalid arguments: svc {' '.join(call.args)}", 1)
    return 0
