#!/bin/sh
# nexus-android and a phone with more than fifteen conversations.
#
# Android's provider of conversations (`content://mms-sms/conversations?simple=true`) sorts by date and
# passes neither the order nor the LIMIT of its caller on. nexus-android asks for `date DESC LIMIT 15`
# and takes a sixteenth row for a message that imitates a row. Seen: with sixteen conversations the
# list is refused as forged, with fifteen it is shown. (When its reader on the phone is not running.)
# Source of the order: TelephonyProvider, MmsSmsProvider.getSimpleConversations; of the rows: Content.java.
# Needs Python 3.12 or newer; PYTHON names it.
set -eu
for python in "${PYTHON:-}" python3.14 python3.13 python3.12; do
    [ -n "$python" ] && command -v "$python" > /dev/null && break
    python=
done
[ -n "$python" ] || { echo "no Python 3.12 or newer: set PYTHON"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet nexus-android==0.16.2
HOME="$folder" "$folder/env/bin/python" - <<'PYTHON'
import re
import sys
from importlib.metadata import version

from nexus_android.messages import Messages


class Phone:
    """Answers as `sh -c` on a phone would; what is asked is a batch of `content query` lines."""

    serial = "serial"

    def __init__(self, conversations):
        self.conversations = conversations

    def shell(self, *argv, **_):
        script = argv[-1]
        if "getprop" in script:
            return "us\n"
        token = re.search(r"@@([0-9a-f]+) %s", script)[1]
        said = []
        for at, line in enumerate(re.findall(r"^\( (.*) \) >", script, re.M)):
            said.append(f"\n@@{token} {at}\n{self.answer(line)}")
        return "".join(said)

    def answer(self, line):
        names = re.search(r"--projection (\S+)", line)[1].split(":")
        if "canonical-addresses" in line:
            rows = [{"_id": n, "address": f"+1555010{n:02}"} for n in range(self.conversations)]
        elif "conversations" in line:  # By date, all of them, whatever --sort says.
            rows = [
                {"_id": n, "date": 1795800000000 - n, "message_count": 1, "read": 1,
                 "archived": 0, "recipient_ids": n, "snippet": "See you"}
                for n in range(self.conversations)
            ]
        else:
            rows = []
        text = "".join(
            f"Row: {at} " + ", ".join(f"{name}={row[name]}" for name in names) + "\n"
            for at, row in enumerate(rows)
        )
        return f"{len(rows)}\n" if "grep -c" in line else text or "No result found.\n"


print("nexus-android", version("nexus-android"))
seen = {}
for count in (15, 16):
    try:
        seen[count] = len(Messages(Phone(count), fast=False).conversations())
    except RuntimeError as error:
        seen[count] = str(error)[:90]
    print(f"{count} conversations: {seen[count]}")
sys.exit(not (seen[15] == 15 and str(seen[16]).startswith("read refused")))
PYTHON
