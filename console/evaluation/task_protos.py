"""Tasks of android_env: text protos of its `Task`, read as exercises that an app's log pays for.

The fields are those of `task.proto` and `adb.proto` in google-deepmind/android_env; the form is
read by protobuf (extra `textproto`), without android_env itself. Invariant: what cannot be followed
is refused by the name of its field, never passed over; `extras_spec`, which only declares, is read
and not needed.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any

from agent.errors import UsageError
from agent.exercises.exercise import Exercise, Record, State
from agent.exercises.log_task import LogRules, SetupStep
from agent.extras import install, is_installed, missing

SUFFIX = ".textproto"
MOST_BYTES = 1 << 20
UNBOUNDED_STEPS = 1 << 30
_REMEDY = "docs/environment.md says what of a task's file is followed."
_TYPES = {"s": 9, "f": 2, "i": 5, "b": 8, "y": 12}
"""string, float, int32, bool, bytes: numbers of FieldDescriptorProto."""
_MESSAGE, _ENUM, _OPTIONAL, _REPEATED = 11, 14, 1, 3
_ENUMS = {
    "Button": "HOME BACK ENTER",
    "Namespace": "UNKNOWN SYSTEM SECURE GLOBAL",
    "ResetMode": "UNKNOWN UNTRUSTED_DEFAULTS UNTRUSTED_CLEAR TRUSTED_DEFAULTS",
    "Priority": "UNSET NORMAL HIGH CRITICAL",
    "DataType": "INVALID_DATA_TYPE FLOAT DOUBLE INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 "
    "BOOL STRING_U1 STRING_U16 STRING_U25 STRING_U250 STRING OBJECT",
}
_MESSAGES = {
    "Task": "id:s name:s description:s setup_steps:*SetupStep reset_steps:*SetupStep "
    "expected_app_screen:AppScreen max_episode_sec:f max_episode_steps:i "
    "log_parsing_config:LogParsingConfig extras_spec:*ArraySpec",
    "AppScreen": "activity:s view_hierarchy_path:*s",
    "WaitForAppScreen": "app_screen:AppScreen timeout_sec:f",
    "CheckInstall": "package_name:s timeout_sec:f",
    "Sleep": "time_sec:f",
    "SuccessCondition": "num_retries:i wait_for_app_screen:WaitForAppScreen "
    "check_install:CheckInstall",
    "SetupStep": "success_condition:SuccessCondition adb_request:AdbRequest sleep:Sleep",
    "ArraySpec": "name:s shape:*i dtype:DataType",
    "RewardEvent": "event:s reward:f",
    "LogRegexps": "score:s reward:*s episode_end:*s extra:*s json_extra:*s "
    "reward_event:*RewardEvent",
    "LogParsingConfig": "filters:*s log_regexps:LogRegexps",
    "AdbRequest": "install_apk:InstallApk start_activity:StartActivity force_stop:Package tap:Tap "
    "press_button:PressButton start_screen_pinning:StartScreenPinning uninstall_package:Package "
    "get_current_activity:Nothing get_orientation:Nothing push:Push pull:Pull "
    "input_text:InputText settings:SettingsRequest generic:GenericRequest "
    "package_manager:PackageManagerRequest dumpsys:DumpsysRequest send_broadcast:SendBroadcast "
    "timeout_sec:f",
    "Nothing": "",
    "Filesystem": "path:s",
    "Blob": "contents:y",
    "InstallApk": "filesystem:Filesystem blob:Blob",
    "StartActivity": "full_activity:s extra_args:*s force_stop:b",
    "SendBroadcast": "action:s component:s",
    "Package": "package_name:s",
    "Tap": "x:i y:i",
    "PressButton": "button:Button",
    "StartScreenPinning": "full_activity:s",
    "Push": "content:y path:s",
    "Pull": "path:s",
    "InputText": "text:s",
    "SettingsRequest": "name_space:Namespace get:Key put:Put delete_key:Key reset:Reset "
    "list:Nothing",
    "Key": "key:s",
    "Put": "key:s value:s",
    "Reset": "package_name:s mode:ResetMode",
    "GenericRequest": "args:*s",
    "PackageManagerRequest": "list:List clear:Clear grant:Grant",
    "List": "features:Nothing libraries:Nothing packages:Packages",
    "Packages": "filter:s options:*s",
    "Clear": "package_name:s user_id:s",
    "Grant": "package_name:s permissions:*s",
    "DumpsysRequest": "service:s args:*s list_only:b timeout_sec:i timeout_ms:i pid:b proto:b "
    "priority:Priority skip_services:*s",
}
"""By message its fields, each name:type; a star before the type is `repeated`. A text proto names
fields, so their numbers are of no account."""
_KEYS = ("KEYCODE_HOME", "KEYCODE_BACK", "KEYCODE_ENTER")


def read_task(path: Path) -> Exercise:
    """Read one task. Raises UsageError, naming the field that is wrong or cannot be followed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB.", _REMEDY)
    return _Reader(path).task(_parsed(path, data))


def _parsed(path: Path, data: bytes) -> Any:
    if not is_installed("textproto"):
        raise UsageError(missing("textproto"), install("textproto"))
    from google.protobuf import text_format

    task = _task_class()()
    try:
        text_format.Parse(data.decode("utf-8"), task)
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not an android_env task: {error}.", _REMEDY) from error
    return task


@cache
def _task_class() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    package = "switchboard.android_env"
    file = descriptor_pb2.FileDescriptorProto(
        name="switchboard/android_env/task.proto", package=package, syntax="proto3"
    )
    for name, values in _ENUMS.items():
        # The values of enums side by side would share one scope.
        enum = file.message_type.add(name=f"Of{name}").enum_type.add(name=name)
        for number, value in enumerate(values.split()):
            enum.value.add(name=value, number=number)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field in enumerate(fields.split(), 1):
            field_name, _, kind = field.partition(":")
            label = _REPEATED if kind.startswith("*") else _OPTIONAL
            row = message.field.add(name=field_name, number=number, label=label)
            kind = kind.lstrip("*")
            if kind in _TYPES:
                row.type = _TYPES[kind]
            elif kind in _ENUMS:
                row.type, row.type_name = _ENUM, f".{package}.Of{kind}.{kind}"
            else:
                row.type, row.type_name = _MESSAGE, f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.Task"))


class _Reader:
    """One file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def task(self, task: Any) -> Exercise:
        name = re.sub(r"[^a-z0-9._@-]+", "-", (task.id or self._path.stem).lower()).strip("-._@")
        if not name:
            raise self._wrong("id", "contains no letter or digit")
        if task.max_episode_steps < 0:
            raise self._wrong("max_episode_steps", "is below 0")
        steps = [
            self._step(step, f"{field}[{number}]")
            for field in ("setup_steps", "reset_steps")
            for number, step in enumerate(getattr(task, field))
        ]
        return Exercise(
            name=name[:80],
            goal=task.description or task.name or name,
            check=_no_check,
            tags=(),
            max_steps=task.max_episode_steps or UNBOUNDED_STEPS,
            steps=tuple(steps),
            log=self._rules(task),
        )

    def _rules(self, task: Any) -> LogRules:
        config = task.log_parsing_config
        found, at = config.log_regexps, "log_parsing_config.log_regexps"

        def patterns(field: str, *groups: str) -> tuple[re.Pattern[str], ...]:
            return tuple(
                self._pattern(said, f"{at}.{field}[{number}]", groups)
                for number, said in enumerate(getattr(found, field))
            )

        return LogRules(
            filters=tuple(config.filters),
            score=self._pattern(found.score, f"{at}.score", ("1",)) if found.score else None,
            rewards=patterns("reward", "1"),
            events=tuple(
                (self._pattern(one.event, f"{at}.reward_event[{number}].event"), float(one.reward))
                for number, one in enumerate(found.reward_event)
            ),
            ends=patterns("episode_end"),
            extras=patterns("extra", "name", "extra"),
            json_extras=patterns("json_extra", "json_extra"),
            activity=self._screen(task.expected_app_screen, "expected_app_screen"),
            max_s=max(0.0, float(task.max_episode_sec)),
        )

    def _pattern(self, said: str, at: str, groups: Sequence[str] = ()) -> re.Pattern[str]:
        try:
            pattern = re.compile(said)
        except (re.error, RecursionError) as error:
            raise self._wrong(at, f"is not a pattern: {error}") from error
        for group in groups:
            if group.isdecimal() and pattern.groups < int(group):
                raise self._wrong(at, "has no group: the number stands in the first")
            if not group.isdecimal() and group not in pattern.groupindex:
                raise self._wrong(at, f"has no group {group!r}")
        return pattern

    def _screen(self, screen: Any, at: str) -> str:
        if screen.view_hierarchy_path:
            raise self._wrong(f"{at}.view_hierarchy_path", "is not followed")
        if screen.activity and "/" not in screen.activity:
            raise self._wrong(f"{at}.activity", "is not a component, such as `org.app/.Main`")
        return str(screen.activity)

    def _step(self, step: Any, at: str) -> SetupStep:
        condition, where = step.success_condition, f"{at}.success_condition"
        known = ("wait_for_app_screen", "check_install")
        check = self._one_of(condition, known, where)
        kind = self._one_of(step, ("adb_request", "sleep"), at)
        if not kind and not check:
            raise self._wrong(at, "has neither a step nor a success_condition")
        shown = installed = ""
        if check == "check_install":
            installed = condition.check_install.package_name
        elif check:
            screen = condition.wait_for_app_screen.app_screen
            shown = self._screen(screen, f"{where}.{check}.app_screen")
        return SetupStep(
            line=self._line(step.adb_request, f"{at}.adb_request") if kind == "adb_request" else "",
            pause_s=float(step.sleep.time_sec) if kind == "sleep" else 0.0,
            shown=shown,
            installed=installed,
            within_s=float(getattr(condition, check).timeout_sec) if check else 0.0,
            tries=min(max(3, condition.num_retries), 100),
            where=f"{self._path.name}: {at}",
        )

    def _line(self, request: Any, at: str) -> str:
        kinds = [field.name for field, _ in request.ListFields() if field.name != "timeout_sec"]
        if len(kinds) != 1:
            raise self._wrong(at, f"has {' and '.join(kinds)}" if kinds else "names no command")
        said = getattr(request, kinds[0])
        make = _LINES.get(kinds[0])
        line = make(said) if make else ""
        if not line:
            inner = "".join(f".{field.name}" for field, _ in said.ListFields()[-1:])
            raise self._wrong(f"{at}.{kinds[0]}{inner}", "is not followed")
        return line

    def _one_of(self, message: Any, names: Sequence[str], at: str) -> str:
        given = [name for name in names if message.HasField(name)]
        if len(given) > 1:
            raise self._wrong(at, f"has {' and '.join(given)}")
        return given[0] if given else ""

    def _wrong(self, field: str, why: str) -> UsageError:
        return UsageError(f"{self._path}: {field} {why}.", _REMEDY)


def _no_check(_before: State, _after: State, _record: Record) -> str:
    return "Its app's log pays for it."


# --- commands ----------


def _words(*words: str) -> str:
    return " ".join(map(quote, words))


def _started(said: Any) -> str:
    stopped = ("-S",) if said.force_stop else ()
    words = ("am", "start", *stopped, "-W", "-n", said.full_activity, *said.extra_args)
    return _words(*words) if said.full_activity else ""


def _broadcast(said: Any) -> str:
    to = ("-n", said.component) if said.component else ()
    return _words("am", "broadcast", "-a", said.action, *to) if said.action else ""


def _generic(said: Any) -> str:
    # Only the phone's shell: what adb itself does has no place on a phone in process.
    return " ".join(said.args[1:]) if len(said.args) > 1 and said.args[0] == "shell" else ""


def _setting(said: Any) -> str:
    space = _ENUMS["Namespace"].split()[said.name_space].lower()
    if said.name_space and said.HasField("put"):
        return _words("settings", "put", space, said.put.key, said.put.value)
    if said.name_space and said.HasField("delete_key"):
        return _words("settings", "delete", space, said.delete_key.key)
    return ""


def _packages(said: Any) -> str:
    if said.HasField("clear"):
        user = ("--user", said.clear.user_id) if said.clear.user_id else ()
        return _words("pm", "clear", *user, said.clear.package_name)
    if said.HasField("grant"):
        package = said.grant.package_name
        lines = (_words("pm", "grant", package, one) for one in said.grant.permissions)
        return " && ".join(lines)
    return ""


_LINES: dict[str, Callable[[Any], str]] = {
    "start_activity": _started,
    "force_stop": lambda said: _words("am", "force-stop", said.package_name),
    "tap": lambda said: f"input tap {said.x} {said.y}",
    "press_button": lambda said: f"input keyevent {_KEYS[said.button]}",
    "uninstall_package": lambda said: _words("pm", "uninstall", said.package_name),
    "input_text": lambda said: _words("input", "text", said.text.replace(" ", "%s")),
    "settings": _setting,
    "generic": _generic,
    "package_manager": _packages,
    "send_broadcast": _broadcast,
}
