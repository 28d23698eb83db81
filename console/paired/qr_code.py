"""Draw an address for a phone's camera, as lines of a terminal.

Invariant: the code of a pairing stands behind the `#`, which browsers send to no server.
"""

import base64
import io

import segno

_BORDER = 2
"""Half of what the standard wants (ISO/IEC 18004): cameras read it, and 24 rows hold it."""
_PRINT_BYTES = 12


def offer_url(url: str, code: str, fingerprint: bytes, secret: bytes = b"") -> str:
    """Return the address that pairs a phone.

    Args:
        url: of the page, ending in a slash.
        code: of the pairing.
        fingerprint: sha256 of the page's certificate; empty: none of its own.
        secret: what is sent through a relay is sealed with it; empty: there is none.
    """
    parts = [code]
    if fingerprint or secret:
        parts.append(base64.urlsafe_b64encode(fingerprint[:_PRINT_BYTES]).decode())
    if secret:
        parts.append(base64.urlsafe_b64encode(secret).rstrip(b"=").decode())
    return f"{url}#{'.'.join(parts)}"


def drawn(text: str) -> list[str]:
    """Return the lines of a picture, two of its rows in each."""
    picture = io.StringIO()
    segno.make(text, error="l", micro=False, boost_error=False).terminal(
        picture, border=_BORDER, compact=True
    )
    return picture.getvalue().rstrip("\n").split("\n")
