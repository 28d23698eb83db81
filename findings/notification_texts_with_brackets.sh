#!/bin/sh
# adbflow and notifications whose texts have brackets.
#
# `dumpsys notification --noredact` writes an extra as `android.title=String (TEXT)`, and escapes nothing.
# Seen: the text ends at its first closing bracket, "Anna (work)" is from "Anna (work", and a second line
# of a text is lost; a record without a tag has the tag "null"; the key keeps the colon behind it.
# Shape: AOSP NotificationRecord.dump (11 to 14); the texts are made.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet adbflow==0.2.0
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from adbflow.utils.parsers import parse_notifications

(seen,) = parse_notifications("""Current Notification Manager state:
  Notification List:
    NotificationRecord(0x0313c955: pkg=com.example.chat user=UserHandle{0} id=1 tag=null importance=4 key=0|com.example.chat|1|null|10290: Notification(channel=chats shortcut=null contentView=null vibrate=null sound=null defaults=0x0 flags=0x18 color=0x00000000 vis=PRIVATE))
      uid=10290 userId=0
      key=0|com.example.chat|1|null|10290
      extras={
          android.title=String (Anna (work))
          android.text=String (See you at 6 (gate B), bring
the tickets)
      }
""")
print("adbflow", version("adbflow"))
for name in ("title", "text", "tag", "key"):
    print(f"  {name}: {getattr(seen, name)!r}")
expected = ("Anna (work", "See you at 6 (gate B", "null", "0|com.example.chat|1|null|10290:")
sys.exit((seen.title, seen.text, seen.tag, seen.key) != expected)
PYTHON
