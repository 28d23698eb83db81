"""Ask a phone for its UI tree by `uiautomator dump`, and tell apart why it gave none.

Not the XML's reader (`agent.devices.trees.tree_parser`). The dump goes to a file, because not every
Android can write it to its output. Invariant: the file is removed before and after, so a tree is
never an old one.
"""

import re
from dataclasses import dataclass

from agent.devices.adb.client import ShellResult
from agent.devices.facts.fact import value_or_none
from agent.devices.facts.sizes import read_natural_size
from agent.errors import TreeUnavailableError
from agent.text import one_line

TREE_PATH = "/data/local/tmp/switchboard-tree.xml"
_MARK = "switchboard-tree-follows"
_ROTATION = re.compile(rb'<hierarchy[^>]*\brotation="([0-3])"')
_SIZES = re.compile(r"(?:Physical|Override) size: \d+x\d+")
_KILLED_CODES = frozenset({137, 143})


@dataclass(frozen=True, slots=True)
class Dump:
    """One dump's XML and the display it is of."""

    xml: bytes
    natural_size: tuple[int, int]  # Width and height in pixels before the display is turned.
    display: tuple[int, int]  # Width and height in pixels as it was turned.


def dump_command(features: frozenset[str], *, windows: bool = False) -> str:
    """Return the shell command that writes the display's size, uiautomator's words and the tree.

    Args:
        windows: dump every window of every display, as Android 11 and later can.
    """
    dump = (
        f"rm -f {TREE_PATH}; uiautomator dump {'--windows ' * windows}{TREE_PATH}; rc=$?; "
        f"echo {_MARK}; cat {TREE_PATH}; rm -f {TREE_PATH}; (exit $rc)"
    )
    # Where `wm` still starts a virtual machine of its own, it costs as much as half a dump.
    return f"wm size; {dump}" if "cmd" in features else dump


def read_dump(serial: str, result: ShellResult, known_size: tuple[int, int] | None) -> Dump:
    """Take the XML out of what `dump_command` wrote. Raises TreeUnavailableError with why."""
    head, _, xml = result.stdout.partition(_MARK.encode() + b"\n")
    said = head.decode("utf-8", "replace")
    natural = value_or_none(read_natural_size(said)) or known_size
    if not xml.lstrip().startswith(b"<"):
        words = said + result.stderr.decode("utf-8", "replace")
        raise treeless(serial, _failure(words, result.exit_code))
    if natural is None:
        raise treeless(serial, "the phone does not report the size of its display")
    turned = _ROTATION.search(xml, 0, 1024)
    sideways = turned is not None and turned[1] in b"13"
    return Dump(xml, natural, (natural[1], natural[0]) if sideways else natural)


def treeless(serial: str, why: str) -> TreeUnavailableError:
    """Make the error that says why a phone gave no tree."""
    return TreeUnavailableError(
        f"{serial} gave no UI tree: {why}.", "Look again in a moment, or work from the picture."
    )


def _failure(said: str, exit_code: int) -> str:
    """Return why `uiautomator dump` wrote no file, from its own words."""
    if "null root node" in said:
        return "no window has content yet (null root node)"
    if "could not get idle state" in said:
        return "the screen never came to rest (could not get idle state)"
    if "already registered" in said or "already connected" in said:
        return "another program reads the screen (UiAutomation is already registered)"
    if "Killed" in said or exit_code in _KILLED_CODES:
        return "uiautomator was killed, by another reader of the screen or for want of memory"
    if exit_code == 127:
        return "this phone has no uiautomator"
    words = one_line(_SIZES.sub("", said), 200)
    return f"uiautomator said {words or 'nothing'} (exit code {exit_code})"
