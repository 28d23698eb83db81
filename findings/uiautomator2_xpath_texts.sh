#!/bin/sh
# uiautomator2's d.xpath("some text") and texts that stand on the screen.
#
# Expected: the element whose text is exactly that. Seen: a text of two lines and
# one with a backslash are never found, because the text becomes an XPath string by way of Python's
# repr, and XPath knows no escapes; one with both kinds of quotes is an "Invalid xpath". Persian words
# with a zero-width non-joiner are never found, because it is taken out of the tree and not out of
# the text that is looked for. Shape of the tree: AOSP AccessibilityNodeInfoDumper.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet uiautomator2==3.7.1
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version
from xml.sax.saxutils import quoteattr

from uiautomator2.xpath import PageSource, XPathError, XPathSelector

TEXTS = {
    "Don't save": 1,
    "Meet at 6\nGate B": 0,
    "Save in C:\\notes": 0,
    "5' 10\" tall": "XPathError",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": 0,  # "I want".
}
rows = "".join(
    f'<node index="{at}" text={quoteattr(text, {chr(10): "&#10;"})} class="android.widget.TextView"'
    f' bounds="[0,{at * 90}][1080,{at * 90 + 90}]" />'
    for at, text in enumerate(TEXTS)
)
page = PageSource(f"<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation=\"0\">{rows}</hierarchy>")
print("uiautomator2", version("uiautomator2"))
seen = {}
for text in TEXTS:
    try:
        seen[text] = len(XPathSelector(text).all(page))
    except XPathError:
        seen[text] = "XPathError"
    print(f"  {text!r}: {seen[text]}")
sys.exit(seen != TEXTS)
PYTHON
