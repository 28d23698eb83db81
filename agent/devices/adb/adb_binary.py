"""The adb binary that the adbutils package ships: the one place that knows adbutils.

The package is located and not imported: it is heavy and only its file is wanted. Invariant: what
it cannot give is None.
"""

from importlib.util import find_spec
from pathlib import Path


def bundled_adb() -> Path | None:
    """Return the adb binary inside the installed adbutils; None where its wheel ships none."""
    spec = find_spec("adbutils")
    if spec is None or spec.origin is None:
        return None
    binary = Path(spec.origin).parent / "binaries" / "adb"
    return binary if binary.is_file() else None
