"""Replace what is personal wherever it stands: mail addresses, phone numbers, hardware addresses.

Pure but for the counting. Invariant: a pattern is linear in the length of a line, and what Android
prints itself in such a shape (times, hashes, versions) is either kept or keeps its shape.
"""

import re

from agent.devices.recordings.stand_ins import Personal, StandIns

_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}")
_MAC = re.compile(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:])")
_IP4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_IP6 = re.compile(
    r"(?<![\w:])(?:(?:[0-9A-Fa-f]{1,4}:){3,7}(?:[0-9A-Fa-f]{1,4}|:)|[0-9A-Fa-f]{4}::"
    r"(?:[0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4})(?![\w:])"
)
_PHONE = re.compile(r"(?<![\w+])(?:\+|tel:)\d(?:[ ()/.-]{0,2}\d){6,14}(?!\w)")
_LONG = re.compile(r"(?<![\w.])\d{14,20}(?![\w.])")
"""IMEI (14 to 16 digits), IMSI (15), ICCID (19 and 20)."""
_ALLOWED_IPS = frozenset({"0.0.0.0", "127.0.0.1", "255.255.255.255"})


def redact_patterns(text: str, stand_ins: StandIns) -> str:
    """Return a text with stand-ins for what has the shape of something personal."""
    text = _MAIL.sub(lambda it: stand_ins.text(Personal.MAIL, it[0]), text)
    text = _MAC.sub(lambda it: stand_ins.hexadecimal(Personal.MAC, it[0]), text)
    text = _IP6.sub(lambda it: stand_ins.hexadecimal(Personal.IP, it[0]), text)
    text = _IP4.sub(lambda it: _address(it[0], stand_ins), text)
    text = _PHONE.sub(lambda it: stand_ins.text(Personal.PHONE, it[0]), text)
    return _LONG.sub(lambda it: stand_ins.text(Personal.DEVICE_ID, it[0]), text)


def _address(said: str, stand_ins: StandIns) -> str:
    is_address = all(int(octet) < 256 for octet in said.split("."))
    return stand_ins.address(said) if is_address and said not in _ALLOWED_IPS else said
