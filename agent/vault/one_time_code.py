"""Make the codes of an authenticator app from the secret that a service handed out.

RFC 6238; the address form is Google Authenticator's "Key Uri Format". Services hand out secrets of
80 bits too, which RFC 4226 would have longer: the service chose them, so they are taken.
"""

import base64
import binascii
from urllib.parse import parse_qs, urlsplit

from agent.errors import UsageError
from agent.records.record import Record

_ALGORITHMS = ("SHA1", "SHA256", "SHA512")
_DIGITS = range(6, 9)
_LONGEST_PERIOD_S = 300
_REMEDY = "Use the secret in letters (base32), or the whole otpauth://totp/… address."


class OneTimeSecret(Record, frozen=True, kw_only=True):
    """What a service handed out for codes; shown, it does not tell itself."""

    key: bytes
    digits: int = 6
    period_s: int = 30
    algorithm: str = "SHA1"

    def __repr__(self) -> str:
        return "OneTimeSecret()"

    def code(self, now_ms: int) -> str:
        """Return the code of a moment."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.twofactor.totp import TOTP

        made_by: hashes.SHA1 | hashes.SHA256 | hashes.SHA512 = hashes.SHA1()
        if self.algorithm != "SHA1":
            made_by = hashes.SHA256() if self.algorithm == "SHA256" else hashes.SHA512()
        made = TOTP(self.key, self.digits, made_by, self.period_s, enforce_key_length=False)
        return made.generate(now_ms // 1000).decode()


def read_one_time_secret(said: str) -> OneTimeSecret:
    """Read a secret in base32 or an `otpauth://totp/…` address.

    Raises UsageError, which does not repeat it.
    """
    text = said.strip()
    if not text.lower().startswith("otpauth:"):
        return OneTimeSecret(key=_key(text))
    try:
        address = urlsplit(text)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        digits, period_s = int(asked.get("digits", "6")), int(asked.get("period", "30"))
    except ValueError as error:
        raise UsageError("That is not an address of an authenticator's secret.", _REMEDY) from error
    algorithm = asked.get("algorithm", "SHA1").upper()
    if address.hostname != "totp":
        raise UsageError("Only codes that change with time (totp) are made.", _REMEDY)
    if (
        algorithm not in _ALGORITHMS
        or digits not in _DIGITS
        or not 0 < period_s <= _LONGEST_PERIOD_S
    ):
        raise UsageError("The address asks for codes of a kind that is not made.", _REMEDY)
    return OneTimeSecret(
        key=_key(asked.get("secret", "")), digits=digits, period_s=period_s, algorithm=algorithm
    )


def _key(letters: str) -> bytes:
    plain = "".join(letters.replace("-", "").split()).upper().rstrip("=")
    try:
        key = base64.b32decode(plain + "=" * (-len(plain) % 8))
    except binascii.Error as error:
        raise UsageError("That is no secret of an authenticator.", _REMEDY) from error
    if not key:
        raise UsageError("The secret of the authenticator is empty.", _REMEDY)
    return key
