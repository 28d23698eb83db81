"""Find the app that a model names among those of a phone, or say which there are.

Not the launching. Invariant: an app is never guessed; where none fits, or several do, the nearest
are named and the model chooses.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from agent.knowledge.library import Library
from agent.records import AppInfo
from agent.safety.words import words
from agent.text import one_line
from agent.tools.arguments import BadArguments

SHOWN_APPS = 20
_COMPARED_CHARS = 60
_SHORT_WORD = 3  # Words of so many letters stand in many names.


def find_app(name: str, apps: Sequence[AppInfo], library: Library) -> AppInfo:
    """Find an installed app by package, label, words of them, or what its card calls it.

    Many phones list packages without labels: then only a card knows what people call an app.

    Raises:
        BadArguments: none fits, or several do.
    """
    wanted = name.strip()
    for app in apps:
        if app.package == wanted:
            return app
    if not apps and "." in wanted:
        # The phone gave no list: a package may still be named outright.
        return AppInfo(package=one_line(wanted, 120))
    asked = words(wanted)
    exact = [app for app in apps if app.label and words(app.label) == asked]
    if len(exact) == 1:
        return exact[0]
    loose = exact or [
        app
        for app in apps
        if asked and set(asked) <= {*words(app.label), *words(app.package.replace(".", " "))}
    ]
    called = library.called(wanted)
    loose = loose or [app for app in apps if app.package.casefold() in called]
    if len(loose) == 1:
        return loose[0]
    called_so = one_line(wanted, 60)
    if loose:
        raise BadArguments(f'several apps fit "{called_so}": {_some_of(loose, wanted)}')
    none_fits = f'no installed app is called "{called_so}"; '
    if not apps:
        raise BadArguments(f"{none_fits}the phone reported none")
    if len(apps) <= SHOWN_APPS:
        raise BadArguments(f"{none_fits}installed: {_some_of(apps, wanted)}")
    raise BadArguments(
        f"{none_fits}{len(apps)} are installed, with the nearest names: {_some_of(apps, wanted)}"
    )


def _some_of(apps: Sequence[AppInfo], wanted: str) -> str:
    """Name the apps that are most like what was wanted, the nearest first."""
    like = sorted(apps, key=lambda app: -_likeness(app, wanted))
    more = f" and {len(apps) - SHOWN_APPS} more" if len(apps) > SHOWN_APPS else ""
    return ", ".join(_app_name(app) for app in like[:SHOWN_APPS]) + more


def _likeness(app: AppInfo, wanted: str) -> float:
    """Return how much an app's name, or its package, is like what was wanted; 0 to 1."""
    if "." in wanted and " " not in wanted:
        return _ratio(wanted.casefold(), app.package.casefold())
    asked, label = words(wanted), words(app.label)
    if any(len(word) > _SHORT_WORD and word in asked for word in label):
        return 1.0
    joined = "".join(asked)
    parts = ("".join(label), *app.package.casefold().split("."))
    return max(_ratio(joined, part) for part in parts)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:_COMPARED_CHARS], other[:_COMPARED_CHARS], False).ratio()


def _app_name(app: AppInfo) -> str:
    return f"{app.label} ({app.package})" if app.label else app.package
