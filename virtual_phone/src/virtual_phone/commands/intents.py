"""The intent arguments that `am`, `cmd activity` and `cmd package` share.

Follows android.content.Intent.parseCommandArgs.
"""

from dataclasses import dataclass, field

from virtual_phone.shell.call import CommandError

MAIN = "android.intent.action.MAIN"
_EXTRAS = {
    "-e": 2,
    "--es": 2,
    "--ez": 2,
    "--ei": 2,
    "--el": 2,
    "--ef": 2,
    "--ed": 2,
    "--eu": 2,
    "--ecn": 2,
    "--eia": 2,
    "--eial": 2,
    "--ela": 2,
    "--elal": 2,
    "--efa": 2,
    "--efal": 2,
    "--esa": 2,
    "--esal": 2,
    "--esn": 1,
}
_FLAGS_WITHOUT_VALUE = frozenset(
    [
        "--activity-brought-to-front",
        "--activity-clear-top",
        "--activity-clear-when-task-reset",
        "--activity-exclude-from-recents",
        "--activity-launched-from-history",
        "--activity-multiple-task",
        "--activity-no-animation",
        "--activity-no-history",
        "--activity-no-user-action",
        "--activity-previous-is-top",
        "--activity-reorder-to-front",
        "--activity-reset-task-if-needed",
        "--activity-single-top",
        "--activity-clear-task",
        "--activity-task-on-home",
        "--activity-match-external",
        "--receiver-registered-only",
        "--receiver-replace-pending",
        "--receiver-foreground",
        "--receiver-no-abort",
        "--receiver-include-background",
        "--include-stopped-packages",
        "--exclude-stopped-packages",
        "--debug-log-resolution",
        "--grant-read-uri-permission",
        "--grant-write-uri-permission",
        "--selector",
    ]
)


@dataclass(slots=True)
class IntentArguments:
    """What the words of a command said of an intent."""

    action: str | None = None
    data: str | None = None
    mime_type: str | None = None
    component: str | None = None
    package: str | None = None
    categories: list[str] = field(default_factory=list)
    flags: int = 0
    extras: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """Options of the command itself, by name; "" for those without a value."""

    def shown(self) -> str:
        """Return the intent as `am` prints it."""
        parts: list[str] = []
        if self.action:
            parts.append(f"act={self.action}")
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data:
            parts.append(f"dat={self.data if self.data.startswith('http') else _safe(self.data)}")
        if self.mime_type:
            parts.append(f"typ={self.mime_type}")
        if self.flags:
            parts.append(f"flg={self.flags:#x}")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            parts.append(f"cmp={shorten(self.component)}")
        if self.extras:
            parts.append("(has extras)")
        return "Intent { " + " ".join(parts) + " }"


def _safe(data: str) -> str:
    scheme, colon, _ = data.partition(":")
    return f"{scheme}:xxx" if colon and scheme in ("tel", "sms", "smsto", "mailto", "sip") else data


def shorten(component: str) -> str:
    """Return `pkg/.Class` where the class lies in the package."""
    package, _, cls = component.partition("/")
    return f"{package}/{cls.removeprefix(package)}" if cls.startswith(package + ".") else component


def lengthen(component: str) -> str:
    """Return `pkg/pkg.Class` for `pkg/.Class`."""
    package, _, cls = component.partition("/")
    return f"{package}/{package}{cls}" if cls.startswith(".") else component


def parse_intent(
    words: list[str], *, flags: frozenset[str], valued: frozenset[str]
) -> IntentArguments:
    """Read an intent; `flags` and `valued` are the command's own options.

    Raises:
        CommandError: an unknown option or a missing value.
    """
    found = IntentArguments()
    pending = list(words)

    def value(option: str) -> str:
        if not pending:
            raise CommandError(f'Error: Argument expected after "{option}"', 255)
        return pending.pop(0)

    while pending:
        word = pending.pop(0)
        if word in flags:
            found.options[word] = ""
        elif word in valued:
            found.options[word] = value(word)
        elif word == "-a":
            found.action = value(word)
        elif word == "-d":
            found.data = value(word)
        elif word == "-t":
            found.mime_type = value(word)
        elif word == "-c":
            found.categories.append(value(word))
        elif word == "-n":
            found.component = value(word)
            if "/" not in found.component:
                raise CommandError(
                    "\nException occurred while executing 'start':\n"
                    f"java.lang.IllegalArgumentException: Bad component name: {found.component}",
                    255,
                )
        elif word == "-p":
            found.package = value(word)
        elif word in ("-f", "-i", "--user-id"):
            text = value(word)
            if word == "-f":
                try:
                    found.flags = int(text, 0) & 0xFFFFFFFF
                except ValueError as error:
                    raise CommandError(f'Error: For input string: "{text}"', 255) from error
        elif word in _EXTRAS:
            key = value(word)
            found.extras[key] = value(word) if _EXTRAS[word] == 2 else ""
        elif word in _FLAGS_WITHOUT_VALUE:
            continue
        elif word.startswith("-"):
            raise CommandError(f"Error: Unknown option: {word}", 255)
        elif ":" in word or word.startswith("/"):
            found.data = word
            found.action = found.action or "android.intent.action.VIEW"
        elif "/" in word:
            found.component = word
        else:
            # A bare package stands for its launcher activity (Intent.parseCommandArgs).
            found.package = word
            found.action = found.action or MAIN
            if found.action == MAIN and not found.categories:
                found.categories.append("android.intent.category.LAUNCHER")
    return found
