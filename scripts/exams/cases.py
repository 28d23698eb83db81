"""Run the cases of one program and print the result of each, one JSON object a line.

Runs in the program's environment, so it needs nothing but Python. Not a test framework.
Invariant: each case has an end: passed, failed, or not applicable with the reason.
"""

import asyncio
import inspect
import json
import os
import signal
import subprocess
import sys
import traceback

CASE_LIMIT_S = 60


class NotApplicable(Exception):
    """The case asks for something that this phone, or this machine, does not have."""


def adb(*words):
    """Run an adb command on the exam's phone, for what a case needs; return what it says."""
    binary, serial = os.environ["ADBUTILS_ADB_PATH"], os.environ["EXAM_SERIAL"]
    done = subprocess.run(
        [binary, "-s", serial, *words], capture_output=True, text=True, timeout=CASE_LIMIT_S
    )
    return done.stdout + done.stderr


def _too_long(number, frame):
    raise TimeoutError(f"the case took longer than {CASE_LIMIT_S} s")


def run(cases):
    """Run functions or coroutine functions in order; their docstrings are the cases' names."""
    signal.signal(signal.SIGALRM, _too_long)
    for case in cases:
        outcome, reason = "passed", ""
        signal.alarm(CASE_LIMIT_S)
        try:
            result = case()
            if inspect.iscoroutine(result):
                asyncio.run(result)
        except NotApplicable as error:
            outcome, reason = "not applicable", str(error)
        except BaseException as error:
            outcome = "failed"
            reason = f"{type(error).__name__}: {str(error).strip()[:300]}"
            traceback.print_exc(file=sys.stderr)
        finally:
            signal.alarm(0)
        row = {"case": case.__doc__.strip(), "outcome": outcome, "reason": reason}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
