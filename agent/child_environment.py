"""The environment of the programs that the core starts for itself.

Invariant: what a child needs is listed here; everything else, keys and tokens above all, stays in
the core. Programs that the operator names (an editor, a notice command) are the operator's own and
get the whole environment.
"""

import os
from collections.abc import Mapping

_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM"),
        *("TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"),
        "SWITCHBOARD_DATA_DIR",
    }
)
"""DISPLAY and its like are for emulators, which draw with the host's graphics. The data directory
tells a person who looks at the processes whose child it is."""
_KEPT_PREFIXES = ("LC_", "PYTHON", "MALLOC_", "OMP_", "OPENBLAS_")
_ADB_PREFIXES = ("ADB_", "ANDROID_", "ADBUTILS_")


def child_environment(
    environ: Mapping[str, str] | None = None, *, keeps_adb: bool = False
) -> dict[str, str]:
    """Return what a child of the core may know of the core's environment.

    Args:
        environ: the core's environment; the process's own when left out.
        keeps_adb: whether the variables of adb and the Android SDK are passed on.
    """
    env = os.environ if environ is None else environ
    prefixes = (*_KEPT_PREFIXES, *(_ADB_PREFIXES if keeps_adb else ()))
    return {
        name: value for name, value in env.items() if name in _KEPT or name.startswith(prefixes)
    }
