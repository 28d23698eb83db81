#!/bin/sh
# pure-python-adb and the memory of an app since Android 11.
#
# `dumpsys meminfo PACKAGE` got a column, "Rss Total", before the three of the heap. Expected of a reader
# of columns: an error, or the heap. Seen: heap_size is the RSS, heap_alloc the heap's size, heap_free
# what is allocated; nothing is said. (116 MiB of heap for an app that has 23.)
# Columns: AOSP ActivityThread.dumpMemInfoTable; the figures are made.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pure-python-adb==0.3.0.dev0
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys
from importlib.metadata import version

from ppadb.plugins.device.utils import Utils

OLD = """\
                   Pss  Private  Private  SwapPss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------
  Native Heap     9324     9324        0        0    12288    10284     2004
  Dalvik Heap     4216     4108        0        0    11376     6232     5144
        TOTAL    41212    32776     1308       20    23664    16516     7148
"""
NEW = """\
                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap     9324     9324        0        0    19832    12288    10284     2004
  Dalvik Heap     4216     4108        0        0     9704    11376     6232     5144
        TOTAL    41212    32776     1308       20   119567    23664    16516     7148
"""


class Phone(Utils):
    def __init__(self, text):
        self.text = text

    def shell(self, *_, **__):
        return "** MEMINFO in pid 4321 [com.example.notes] **\n" + self.text


print("pure-python-adb", version("pure-python-adb"))
seen = []
for name, text in (("Android 10", OLD), ("Android 11", NEW)):
    memory = Phone(text).get_meminfo("com.example.notes")
    seen.append((memory.heap_size, memory.heap_alloc, memory.heap_free))
    print(name, "size, alloc, free:", *seen[-1])
sys.exit(seen != [(23664, 16516, 7148), (119567, 23664, 16516)])
PYTHON
