"""Whether an action stays within the app that a session belongs to.

Not the warning that another app is in front (that is `agent.loop.signals.recover`). Invariant: only
what leads back, or belongs to the system on the app's behalf, is let pass outside it.
"""

_ON_THE_APPS_BEHALF = (
    *("systemui", "permissioncontroller", "packageinstaller", "launcher", "inputmethod"),
    *("intentresolver", "documentsui", "photopicker", "credentialmanager"),
)


_FILES_APP = "filesactivity"
"""In AOSP's DocumentsUI, `files.FilesActivity` is the Files app; `picker.PickActivity` is what
another app calls up to choose a file."""


def is_neutral(package: str, activity: str = "") -> bool:
    """Return whether what is in front is part of the system that any app may call up.

    Args:
        activity: of the package that is in front, where it is known.
    """
    if "documentsui" in package and activity.casefold().endswith(_FILES_APP):
        return False
    return package in {"", "android"} or any(word in package for word in _ON_THE_APPS_BEHALF)


def out_of_scope(package: str, target: str, activity: str = "") -> str:
    """Return why an action on a package is refused to another app's session; empty when it is not.

    Args:
        package: of the element, or of the app in front, or that would be started.
        target: the session's app; empty when it may use any.
        activity: of the package, where that is in front.
    """
    if not target or package == target or is_neutral(package, activity):
        return ""
    return f"this session belongs to {target}, and that is {package}: go back or launch {target}"
