#!/bin/sh
# phone-harness's screenshot of a foldable, or of any phone with a second display.
#
# Since Android 14 `screencap -p` without -d warns on stderr when there is more than one display, and
# `adb exec-out` has one stream: the warning stands before the PNG. Seen: screenshot() saves the file
# without a word, and it is no PNG: words first, the picture behind them.
# Source of the words' place: AOSP cmds/screencap/screencap.cpp (14); the sentence here is ours.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet phone-harness==0.3.2
cat > "$folder/adb" <<'ADB'
#!/bin/sh
case "$*" in
*"wm size"*) echo "Physical size: 1812x2176" ;;
*mWakefulness*) echo "  mWakefulness=Awake" ;;
*isKeyguardShowing*) echo "    isKeyguardShowing=false" ;;
*screencap*) printf '[Warning] Multiple displays were found, none was asked for.\n\211PNG\r\n\032\n...' ;;
esac
ADB
chmod +x "$folder/adb"
ANDROID_SERIAL=SERIAL0001 PHONE_HARNESS_PLATFORM=android PHONE_HARNESS_ADB="$folder/adb" \
    PHONE_HARNESS_HOME="$folder/home" PHONE_HARNESS_TELEMETRY=0 PHONE_HARNESS_NO_UPDATE_CHECK=1 \
    SHOT="$folder/shot.png" "$folder/env/bin/python" - <<'PYTHON'
import os
import sys
from importlib.metadata import version
from pathlib import Path

from phone_harness import helpers

print("phone-harness", version("phone-harness"))
helpers.screenshot(os.environ["SHOT"])
data = Path(os.environ["SHOT"]).read_bytes()
print("it begins with", data[:24], "; the PNG begins at", data.find(b"\x89PNG"))
sys.exit(not data.startswith(b"[Warning]"))
PYTHON
