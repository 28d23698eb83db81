"""The phone's commands, one module a subject."""

from importlib import import_module

_SUBJECTS = (
    *(
        "activity",
        "archiving",
        "awk",
        "blocks",
        "capturing",
        "compressing",
        "conditions",
        "content",
    ),
    *("digests", "dumping", "dumps", "editing", "filters", "finding", "folders", "input_methods"),
    *("keys", "listing", "locking", "monitors", "nesting", "network", "packaging", "policies"),
    *("printing", "radios", "raw_input", "recording", "running", "searching", "sound", "tables"),
    "windowing",
)


def register_all() -> None:
    """Import every subject, which puts its commands into the shell's table."""
    for subject in _SUBJECTS:
        import_module(f"{__name__}.{subject}")
