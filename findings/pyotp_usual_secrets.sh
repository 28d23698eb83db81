#!/bin/sh
# pyotp and the secrets that services hand out.
#
# Expected: a secret of 16 letters (80 bits), as authenticator apps have been given for years and as
# pyotp 2.3 itself made them, gives a code. Seen: 2.12 refuses it, "must be at least 112 bits", though the
# service chose it; 2.9 takes it. And of a label whose colon is escaped, as the format allows, 2.9 reads
# the issuer and 2.12 does not: the name is "Acme:anna".
# Format: Google Authenticator's "Key Uri Format" (label = issuer (":" / "%3A") account).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/ask.py" <<'PYTHON'
import sys
from importlib.metadata import version

import pyotp

USUAL, LONG = "JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def said(uri):
    try:
        one = pyotp.parse_uri(uri)
        return one.at(1795860000), one.issuer, one.name
    except ValueError as error:
        return str(error)


seen = [said(f"otpauth://totp/Acme{colon}anna?secret={secret}") for secret in (USUAL, LONG) for colon in (":", "%3A")]
print("pyotp", version("pyotp"))
for one in seen:
    print(" ", one)
new = version("pyotp") == "2.12.0"
refused = ["112 bits" in one for one in seen[:2]]
names = [one[1:] for one in seen[2:]]
sys.exit(refused != [new] * 2 or names != [("Acme", "anna"), (None, "Acme:anna") if new else ("Acme", "anna")])
PYTHON
for release in 2.9.0 2.12.0; do
    python3 -m venv "$folder/$release"
    "$folder/$release/bin/pip" install --quiet "pyotp==$release"
    "$folder/$release/bin/python" "$folder/ask.py"
done
