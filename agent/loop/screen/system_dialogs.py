"""Name the system's own dialogs that come between a session and its app.

A note for the model; nothing is pressed here. Invariant: judged by package or by the words that
Android itself puts there, never by what an app calls its own window.
"""

from agent.language.tokens import has_phrase
from agent.records import Observation
from agent.safety.words import words

_CRASHED = (("keeps", "stopping"), ("has", "stopped"))
_HANGS = (("isn", "t", "responding"), ("not", "responding"))
_UPDATES = (("system", "update"), ("software", "update"), ("restart", "to", "update"))
_SMALL = 12  # A dialog has few elements; a page that speaks of updates has many.


def dialog_note(observation: Observation) -> str:
    """Return which dialog of the system is in front; empty when none is."""
    elements = observation.elements
    packages = {element.package for element in elements} | {observation.foreground.package}
    if any("permissioncontroller" in package for package in packages):
        return (
            "A permission dialog is in front. Grant only what the goal needs, which the operator "
            "approves; else refuse it."
        )
    if any("packageinstaller" in package for package in packages):
        return "The installer is in front. Cancel it unless the goal is to install this."
    if not 0 < len(elements) <= _SMALL:
        return ""
    said = words(" ".join(element.label for element in elements))
    from_system = any(package in {"android", "com.android.systemui"} for package in packages)
    if any(has_phrase(said, phrase) for phrase in _CRASHED) and has_phrase(said, ("app",)):
        return "An app has crashed, and Android says so. Close the message and start it again."
    if any(has_phrase(said, phrase) for phrase in _HANGS):
        return "An app hangs, and Android says so. Wait for it, or close it and start it again."
    if from_system and any(has_phrase(said, phrase) for phrase in _UPDATES):
        return "A system update wants to be installed. Put it off."
    return ""
