#!/bin/sh
# pure-python-adb, adbutils and `dumpsys activity top`.
#
# Since Android 8 it prints every visible task, the one on top last: the launcher, then the app that the
# person sees. Seen: pure-python-adb's get_top_activity() answers the first, so with any app in front it
# answers the launcher. adbutils takes the last and is right.
# Order: AOSP ActivityTaskManagerService.dumpActivity, which walks the activities from the end.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pure-python-adb==0.3.0.dev0 adbutils==2.12.0
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys
from importlib.metadata import version

from adbutils.shell import ShellExtension
from ppadb.plugins.device.utils import Utils

TOP = """TASK 10012:com.android.launcher3 id=1 userId=0
  ACTIVITY com.android.launcher3/.uioverrides.QuickstepLauncher 1a2b3c4 pid=1500
    Local Activity 1f2e3d4 State:
      mResumed=false mStopped=true mFinished=false
TASK 10200:com.example.notes id=77 userId=0
  ACTIVITY com.example.notes/.MainActivity 5d6e7f8 pid=4321
    Local Activity 6a5b4c3 State:
      mResumed=true mStopped=false mFinished=false
"""


class Old(Utils):
    def __init__(self):
        """There is no device to keep."""

    def shell(self, line, *_, **__):
        return "\n".join(one for one in TOP.splitlines() if "ACTIVITY" in one)  # Its line ends in `| grep ACTIVITY`.


class New(ShellExtension):
    def shell(self, words, *_, **__):
        return TOP if "top" in words else ""


New.__abstractmethods__ = frozenset()
old, new = Old().get_top_activity(), New().app_current()
print("pure-python-adb", version("pure-python-adb"), old)
print("adbutils", version("adbutils"), new.package, new.activity)
sys.exit((old.package, new.package) != ("com.android.launcher3", "com.example.notes"))
PYTHON
