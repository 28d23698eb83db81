"""Keep whatever starts apps from starting anew the app of a session that runs detached.

Starting it again would take it off its own display. Not a policy of safety: it protects the target,
not the phone's owner. Invariant: only what starts the target itself on the main display is refused
(the shims of Codex Android's DetachedSessionGuard).
"""

import shlex
from collections.abc import Sequence

from agent.devices.no_displays import NoDisplays
from agent.devices.protocols import Device
from agent.errors import DeviceError
from agent.records import Session

REFUSED_EXIT_CODE = 64
"""What the shell answers with instead of running the command; EX_USAGE of sysexits.h."""

_PACKAGE_OPTIONS = frozenset({"-p", "--package"})
_COMPONENT_OPTIONS = frozenset({"-n", "--component"})
_JOINTS = frozenset({";", "&", "&&", "||", "|", "(", ")", "\n"})


async def launch(device: Device, package: str, session: Session) -> None:
    """Start an app for a session, unless that would take its own app off its display.

    Raises:
        DeviceError: it would, with the exit code of the refused command; or as `Device.launch`.
    """
    refuse_relaunch(device, session, f"monkey -p {shlex.quote(package)} 1")
    await device.launch(package)


def refuse_relaunch(device: Device, session: Session, command: str) -> None:
    """Refuse a command that would take a session's own app off its display. Raises DeviceError."""
    # What is one display itself has none: an app that is started there stays there.
    on_main = not isinstance(device.displays, NoDisplays)
    detached = on_main and session.presentation.is_detached
    code = refusal(command, target_package=session.target_package, detached=detached)
    if code:
        raise DeviceError(
            f"Refused with exit code {code}: {session.target_package} runs detached, on a display "
            "of its own, and starting it here would take it off there.",
            "Continue on its own display; it is recovered automatically.",
        )


def refusal(command: str, *, target_package: str, detached: bool) -> int:
    """Return the exit code for a command: 64 when it would start the target anew, else 0.

    Args:
        command: a line for the phone's shell; what cannot be parted is judged as it stands.
        target_package: the app that the session belongs to.
        detached: whether that app is on a display of its own.
    """
    if not detached or not target_package:
        return 0
    starts = any(_starts(words, target_package) for words in _commands(command))
    return REFUSED_EXIT_CODE if starts else 0


def _commands(command: str) -> list[list[str]]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        words = command.split()
    commands: list[list[str]] = [[]]
    for word in words:
        if word in _JOINTS or set(word) <= set(";&|()\n"):
            commands.append([])
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def _starts(words: Sequence[str], package: str) -> bool:
    program = words[0].rsplit("/", 1)[-1]
    rest = list(words[1:])
    if program == "sh" and "-c" in rest[:-1]:
        return any(_starts(inner, package) for inner in _commands(rest[rest.index("-c") + 1]))
    if program == "monkey":
        return _names(rest, package, bare_component=False)
    if program == "cmd" and rest[:1] == ["activity"]:
        program, rest = "am", rest[1:]
    if program == "am" and rest[:1] in (["start"], ["start-activity"]):
        return _names(rest[1:], package, bare_component=True)
    return False


def _names(words: Sequence[str], package: str, *, bare_component: bool) -> bool:
    for word, value in zip(words, [*words[1:], ""], strict=True):
        option, equals, joined = word.partition("=")
        given = joined if equals else value
        if option in _PACKAGE_OPTIONS and given == package:
            return True
        if option in _COMPONENT_OPTIONS and given.partition("/")[0] == package:
            return True
        if bare_component and "/" in word and word.partition("/")[0] == package:
            return True
    return False
