"""`ime`: list, enable and choose input methods."""

from virtual_phone.input import adb_keyboards
from virtual_phone.input.adb_keyboards import LATIN
from virtual_phone.shell.call import Call, CommandError, command

DEFAULT, ENABLED = "default_input_method", "enabled_input_methods"


@command("ime", java=True)
async def ime(call: Call) -> int:
    """List and choose input methods."""
    phone = call.phone
    match call.args:
        case ["list", *letters]:
            await _list(call, set(letters))
        case ["set", *_, name]:
            _check(call, name, "selected", adb_keyboards.enabled(phone))
            phone.settings.put("secure", DEFAULT, name)
            await call.line(f"Input method {name} selected for user #0")
        case ["enable", *_, name]:
            _check(call, name, "enabled", adb_keyboards.methods(phone))
            names = adb_keyboards.enabled(phone)
            state = "already" if name in names else "now"
            _enable(call, [*names, name])
            await call.line(f"Input method {name}: {state} enabled for user #0")
        case ["disable", *_, name]:
            _check(call, name, "disabled", adb_keyboards.methods(phone))
            if name == LATIN:
                raise CommandError(f"Input method {name} cannot be disabled: the phone's own", 255)
            names = adb_keyboards.enabled(phone)
            state = "now" if name in names else "already"
            _enable(call, [one for one in names if one != name])
            if phone.settings.get("secure", DEFAULT) == name:
                phone.settings.put("secure", DEFAULT, LATIN)
            await call.line(f"Input method {name}: {state} disabled for user #0")
        case ["reset"]:
            _enable(call, [LATIN])
            phone.settings.put("secure", DEFAULT, LATIN)
            await call.line("Reset current and enabled IMEs for user #0")
            await call.line(f"  Newly selected: {LATIN}")
            await call.line(f"  Newly enabled: {LATIN}")
        case _:
            raise CommandError(f"Unknown command: {(call.args or [''])[0]}", 255)
    return 0


def _enable(call: Call, names: list[str]) -> None:
    call.phone.settings.put("secure", ENABLED, ":".join(dict.fromkeys(names)))


def _check(call: Call, name: str, verb: str, possible: list[str]) -> None:
    del call
    if name not in possible:
        raise CommandError(f"Unknown input method {name} cannot be {verb} for user #0", 255)


async def _list(call: Call, letters: set[str]) -> None:
    phone = call.phone
    names = adb_keyboards.methods(phone) if "-a" in letters else adb_keyboards.enabled(phone)
    for name in names:
        if "-s" in letters:
            await call.line(name)
        else:
            await call.line(
                f"{name}:\n  mId={name} mSettingsActivityName=null mIsVrOnly=false "
                "mSupportsSwitchingToNextInputMethod=true"
            )
