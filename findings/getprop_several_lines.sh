#!/bin/sh
# pure-python-adb, adbflow and a property of several lines.
#
# Expected: `getprop` prints one property a line. Every phone that was restarted twice has one that is
# not: persist.sys.boot.reason.history, one restart a line. Seen: the two clients leave it out without a
# word, as if the phone had no such property. Mobly has all of it.
# Shape: public dumps of Android 9 to 14.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pure-python-adb==0.3.0.dev0 adbflow==0.2.0 mobly==1.13.1
cat > "$folder/getprop.txt" <<'TEXT'
[persist.sys.boot.reason]: []
[persist.sys.boot.reason.history]: [reboot,1795800300
reboot,ota,1795700200
reboot,userrequested,1795600100]
[ro.build.version.sdk]: [34]
TEXT
"$folder/env/bin/python" -W ignore - "$folder/getprop.txt" <<'PYTHON'
import sys
from importlib.metadata import version
from pathlib import Path

from adbflow.utils.parsers import parse_getprop
from mobly.controllers.android_device_lib.adb import AdbProxy
from ppadb.command.transport import Transport

TEXT = Path(sys.argv[1]).read_text()
NAME = "persist.sys.boot.reason.history"


class Old(Transport):
    def __init__(self):
        """There is no connection."""

    def shell(self, *_, **__):
        return TEXT


old, flow = Old().get_properties(), parse_getprop(TEXT)
mobly = AdbProxy()._parse_getprop_output(TEXT.encode())
print("pure-python-adb", version("pure-python-adb"), sorted(old))
print("adbflow", version("adbflow"), sorted(flow))
print("mobly", version("mobly"), repr(mobly[NAME]))
sys.exit(NAME in old or NAME in flow or len(old) != 2 or mobly[NAME].count("\n") != 2)
PYTHON
