"""The phone's commands, one module a subject."""

from importlib import import_module

_SUBJECTS = (
    "activity",
    "capturing",
    "dumps",
    "filters",
    "folders",
    "keys",
    "packaging",
    "printing",
    "running",
    "tables",
    "windowing",
)


def register_all() -> None:
    """Import every subject, which puts its commands into the shell's table."""
    for subject in _SUBJECTS:
        import_module(f"{__name__}.{subject}")
