"""`locksettings`: the secret of the lock screen, and whether there is a lock screen at all.

Words and their order are those of AOSP's LockSettingsShellCommand. Invariant: what needs the old
secret does nothing without it.
"""

from virtual_phone import lock
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.state.records import LockKind

USAGE = """lockSettings service commands:

NOTE: when lock screen is set, all commands require the --old <CREDENTIAL> argument.

  help
    Prints this help text.

  get-disabled [--old <CREDENTIAL>] [--user USER_ID]
    Checks whether lock screen is disabled.

  set-disabled [--old <CREDENTIAL>] [--user USER_ID] <true|false>
    When true, disables lock screen.

  set-pin [--old <CREDENTIAL>] [--user USER_ID] <PIN>
    Sets the lock screen as PIN, using the given PIN to unlock.

  set-password [--old <CREDENTIAL>] [--user USER_ID] <PASSWORD>
    Sets the lock screen as password, using the given PASSOWRD to unlock.

  clear [--old <CREDENTIAL>] [--user USER_ID]
    Clears the lock credentials.

  verify [--old <CREDENTIAL>] [--user USER_ID]
    Verifies the lock credentials.
"""
_REFUSED = "New credential doesn't satisfy admin policies"


@command("locksettings", java=True)
async def locksettings(call: Call) -> int:
    """Show or change what the lock screen asks for."""
    return await lock_command(call, call.args)


async def lock_command(call: Call, words: list[str]) -> int:
    """Run `locksettings` and `cmd lock_settings`."""
    if not words or words[0] == "help":
        await call.line(USAGE)
        return 0
    verb, *rest = words
    old, new = _arguments(verb, rest)
    settings = call.phone.settings
    match verb:
        case "get-disabled":
            disabled = settings.flag("secure", "lockscreen.disabled")
            await call.line(str(disabled and not lock.is_secure(call.phone)).lower())
            return 0
        case "set-disabled":
            settings.set_flag("secure", "lockscreen.disabled", new.lower() == "true")
            await call.line(f"Lock screen disabled set to {str(new.lower() == 'true').lower()}")
            return 0
    if not await _knows(call, old):
        return 255
    match verb:
        case "verify":
            await call.line("Lock credential verified successfully")
        case "clear":
            lock.set_secret(call.phone, LockKind.NONE, "")
            await call.line("Lock credential cleared")
        case "set-pin" | "set-password":
            return await _set(call, LockKind.PIN if verb == "set-pin" else LockKind.PASSWORD, new)
        case "set-pattern":
            # What a phone answers whose administrator forbids it: no pattern can be drawn here.
            await call.line(_REFUSED)
            return 255
        case _:
            raise CommandError(f"Unknown command: {verb}", 255)
    return 0


def _arguments(verb: str, rest: list[str]) -> tuple[str, str]:
    """Return the old secret and the argument; options come first."""
    old = ""
    words = list(rest)
    while words and words[0].startswith("--"):
        option = words.pop(0)
        if option not in ("--old", "--user") or not words:
            raise CommandError(
                f"Unknown option: {option}\nError while executing command: {verb}", 255
            )
        value = words.pop(0)
        old = value if option == "--old" else old
    return old, words[0] if words else ""


async def _knows(call: Call, old: str) -> bool:
    """Whether the old secret is right; say so where it is not."""
    if not lock.is_secure(call.phone):
        if old:
            await call.line("Old password provided but user has no password")
        return not old
    if lock.matches(call.phone, old):
        return True
    await call.line(f"Old password '{old}' didn't match")
    return False


async def _set(call: Call, kind: LockKind, new: str) -> int:
    fits = new.isprintable() and (kind is not LockKind.PIN or (new.isascii() and new.isdigit()))
    if not fits or not lock.SHORTEST <= len(new) <= lock.LONGEST:
        await call.line(_REFUSED)
        return 255
    lock.set_secret(call.phone, kind, new)
    await call.line(f"{'Pin' if kind is LockKind.PIN else 'Password'} set to '{new}'")
    return 0
