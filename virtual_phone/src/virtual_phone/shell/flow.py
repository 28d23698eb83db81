"""How the shell leaves what it is in, and the constants of its outcomes. Data only."""

SHELL_NAME = "/system/bin/sh"
MAX_CALL_DEPTH = 60
SCRIPT_LIMIT_BYTES = 4 * 1024 * 1024
NOT_FOUND = 127
NOT_EXECUTABLE = 126
SIGNAL_BASE = 128

ENVIRONMENT = {
    "ANDROID_ART_ROOT": "/apex/com.android.art",
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "ANDROID_STORAGE": "/storage",
    "DOWNLOAD_CACHE": "/data/cache",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "vphone",
    "LOGNAME": "shell",
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:"
    "/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "SHELL": "/bin/sh",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}


class ExitShell(Exception):
    """`exit`, or the end of a shell by a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LeaveFunction(Exception):
    """`return`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LeaveLoop(Exception):
    """`break` and `continue`; `levels` loops are left, the last one goes on when `again`."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__(levels)
        self.levels = levels
        self.again = again
