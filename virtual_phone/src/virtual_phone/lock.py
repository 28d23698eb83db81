"""The secret of the lock screen: who may pass, and what was typed so far.

Not its pages (`system.keyguard`, `system.bouncer`). Invariant: a phone with a secret is unlocked by
nothing but the secret, and after every fifth wrong one nothing is tried for a while, as on Android.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.input import keycodes as k
from virtual_phone.state.records import LockKind, LockState

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

SHORTEST = 4
LONGEST = 64
TRIES = 5
PAUSE_S = 30.0


def is_secure(phone: Phone) -> bool:
    """Whether a secret is asked for."""
    return bool(phone.state_record.lock.secret)


def locks(phone: Phone) -> bool:
    """Begin anew for a screen that goes off; whether the phone is locked then."""
    _forget(phone.state_record.lock)
    return is_secure(phone) or not phone.settings.flag("secure", "lockscreen.disabled")


def boot(phone: Phone) -> None:
    """Lock a phone that starts again, where it has a secret."""
    if locks(phone) and is_secure(phone):
        phone.state_record.locked = True


def dismiss(phone: Phone) -> None:
    """Take the lock screen away, or ask for the secret."""
    if not phone.power.locked or not is_secure(phone):
        phone.power.unlock()
        return
    phone.state_record.lock.asks = True
    phone.invalidate()


def asks(phone: Phone) -> bool:
    return phone.power.locked and phone.state_record.lock.asks


def type_text(phone: Phone, text: str) -> None:
    """Add characters to what was typed; a PIN takes digits, a line end tries it."""
    lock = phone.state_record.lock
    for char in text[: 4 * LONGEST]:
        if char == "\n":
            submit(phone)
            return
        fits = char.isprintable() and (lock.kind is not LockKind.PIN or char in "0123456789")
        if fits and len(lock.typed) < LONGEST:
            lock.typed += char
            lock.says = ""
    phone.invalidate()


def press(phone: Phone, code: int, *, shift: bool) -> bool:
    """Do what a key does while the secret is asked for; whether it did anything."""
    lock = phone.state_record.lock
    if code in (k.ENTER, k.NUMPAD_ENTER):
        submit(phone)
    elif code == k.DEL:
        erase(phone)
    elif code in (k.BACK, k.ESCAPE):
        _forget(lock)
        phone.invalidate()
    elif code in k.CHARACTERS:
        type_text(phone, k.CHARACTERS[code][shift])
    else:
        return False
    return True


def erase(phone: Phone) -> None:
    """Take back the last character."""
    lock = phone.state_record.lock
    lock.typed = lock.typed[:-1]
    phone.invalidate()


def submit(phone: Phone) -> None:
    """Try what was typed: unlock, or say that it is wrong."""
    lock = phone.state_record.lock
    typed, lock.typed = lock.typed, ""
    if typed and phone.now() >= lock.paused_until:
        if matches(phone, typed):
            lock.wrong = 0
            _forget(lock)
            phone.power.unlock()
            return
        fail(phone)
    phone.invalidate()


def matches(phone: Phone, text: str) -> bool:
    return bool(text) and text == phone.state_record.lock.secret


def fail(phone: Phone) -> None:
    """Count a wrong secret; every fifth one makes a pause."""
    lock = phone.state_record.lock
    lock.wrong += 1
    lock.says = f"Wrong {'PIN' if lock.kind is LockKind.PIN else 'password'}"
    if lock.wrong % TRIES == 0:
        lock.paused_until = phone.now() + PAUSE_S
        lock.says = f"Too many incorrect attempts. Try again in {PAUSE_S:.0f} seconds."


def set_secret(phone: Phone, kind: LockKind, secret: str) -> None:
    """Ask for another secret from now on; the empty one is none."""
    before = phone.state_record.lock
    phone.state_record.lock = LockState(kind=kind, secret=secret, asks=before.asks and bool(secret))
    phone.invalidate()


def _forget(lock: LockState) -> None:
    lock.asks, lock.typed, lock.says = False, "", ""
