#!/bin/sh
# uiautomator2 and the order of what `d.xpath(a) | d.xpath(b)` finds.
#
# Expected: the order of the page, as XPath's own `a | b` gives it, so that get() and click() take the
# uppermost. Seen: any order, another one each time the same page is read, because the two results are
# joined as sets; which of several "Allow" buttons is pressed is chance. `&` does the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet uiautomator2==3.7.1
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from uiautomator2.xpath import PageSource, XPathSelector

ROWS = [f"Row {number}" for number in range(40)]
nodes = "".join(
    f'<node index="{at}" text="{text}" class="android.widget.{("Button", "TextView")[at % 2]}"'
    f' bounds="[0,{at * 50}][1080,{at * 50 + 50}]" />'
    for at, text in enumerate(ROWS)
)
print("uiautomator2", version("uiautomator2"))
pages = [PageSource(f'<hierarchy rotation="0">{nodes}</hierarchy>') for _ in range(10)]
buttons, texts = XPathSelector("//android.widget.Button"), XPathSelector("//android.widget.TextView")
either = [[one.text for one in (buttons | texts).all(page)] for page in pages]
one_path = [one.text for one in XPathSelector("//android.widget.Button | //android.widget.TextView").all(pages[0])]
print("  one path with |:", one_path[:5], "…")
for found in either[:3]:
    print("  two with |:     ", found[:5], "…")
right = sum(found == ROWS for found in either)
orders = len({tuple(found) for found in either})
print(f"  {right} of {len(pages)} in the order of the page; {orders} different orders")
sys.exit(one_path != ROWS or right != 0 or orders < 2 or any(sorted(found) != sorted(ROWS) for found in either))
PYTHON
