#!/bin/sh
# Programs of 2026 and a phone whose serial holds a blank.
#
# When wireless debugging is switched off and on, mDNS still knows the old name, and adb lists the phone
# as `adb-SERIAL (2)._adb-tls-connect._tcp`, a tab, and `device`. Seen: mobilerun-core finds no phone,
# and phone-harness takes the end of the name for its state. (mobile-mcp splits at the tab, and is right.)
# The name: flutter/flutter issue 187092; the tab: adb's `devices` without -l.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet mobilerun-core==1.10.1 phone-harness==0.3.2
cat > "$folder/adb" <<'ADB'
#!/bin/sh
printf 'List of devices attached\nadb-SERIAL0001-Z3uXXq (2)._adb-tls-connect._tcp\tdevice\n\n'
ADB
chmod +x "$folder/adb"
PATH="$folder:$PATH" PHONE_HARNESS_ADB="$folder/adb" PHONE_HARNESS_HOME="$folder/home" \
    "$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from mobilerun_core.detect import adb_serial_present, list_adb_serials
from phone_harness import android

SERIAL = "adb-SERIAL0001-Z3uXXq (2)._adb-tls-connect._tcp"
found = list_adb_serials()
rows = android._attached()
print("mobilerun-core", version("mobilerun-core"), found, adb_serial_present(SERIAL))
print("phone-harness", version("phone-harness"), rows)
sys.exit(found != set() or rows != [("adb-SERIAL0001-Z3uXXq", "(2)._adb-tls-connect._tcp", "wifi")])
PYTHON
