"""`cmd package resolve-activity` and `query-activities`: which activity an intent means.

Format: PackageManagerShellCommand.runResolveActivity, runQueryIntentActivities (Y29-Y34), and
ResolveInfo.dump.
"""

import textwrap

from virtual_phone.commands.intents import IntentArguments, lengthen, parse_intent, shorten
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.phone import Phone
from virtual_phone.shell.call import Call
from virtual_phone.state.records import UnknownActivityError
from virtual_phone.task_stack import HOME_ACTIVITY, HOME_PACKAGE, MAIN

LAUNCHER = "android.intent.category.LAUNCHER"
LAUNCHERS = (
    LAUNCHER,
    "android.intent.category.LEANBACK_LAUNCHER",
    "android.intent.category.CAR_LAUNCHER",
)
ANDROID = PackageInfo("android", "Android System")
CHOOSER = "com.android.internal.app.ResolverActivity"
"""What Android names where several activities answer and none of them is the default."""
_HOME = "android.intent.category.HOME"
_FACTS = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def offers(phone: Phone, categories: list[str]) -> bool:
    """Return whether the phone's apps have the launcher categories that an intent asks for."""
    asked = [one for one in categories if one in LAUNCHERS]
    return all(one == phone.form_factor.profile.launcher_category for one in asked)


async def resolve_activity(call: Call, words: list[str]) -> int:
    """Run `cmd package resolve-activity`."""
    intent, way = _parse(words)
    answers = _answering(call.phone, intent)
    if len(answers) > 1 and intent.action in (None, MAIN):
        answers = [(ANDROID, CHOOSER)]
    await call.line(_shown(*answers[0], way) if answers else "No activity found")
    return 0


async def query_activities(call: Call, words: list[str]) -> int:
    """Run `cmd package query-activities`."""
    intent, way = _parse(words)
    answers = _answering(call.phone, intent)
    if not answers:
        await call.line("No activities found")
    elif way == "--components":
        for info, cls in answers:
            await call.line(_shown(info, cls, way))
    else:
        await call.line(f"{len(answers)} activities found:")
        for at, (info, cls) in enumerate(answers):
            await call.line(f"  Activity #{at}:")
            await call.line(textwrap.indent(_shown(info, cls, way), "    "))
    return 0


def _parse(words: list[str]) -> tuple[IntentArguments, str]:
    """Return the intent, and the option that says how an answer is shown."""
    ways = frozenset({"--brief", "--components"})
    intent = parse_intent(words, flags=ways, valued=frozenset({"--user", "--query-flags"}))
    return intent, next((one for one in ("--components", "--brief") if one in intent.options), "")


def _answering(phone: Phone, intent: IntentArguments) -> list[tuple[PackageInfo, str]]:
    """Return the activities that answer, the one that is started first."""
    if _HOME in intent.categories:
        info = phone.packages.get(HOME_PACKAGE)
        return [(info, HOME_ACTIVITY)] if info is not None else []
    if intent.component is not None:
        component = lengthen(intent.component)
        try:
            return [phone.tasks.resolve(component=component, package=None, action=None, data=None)]
        except UnknownActivityError:
            return []
    if not offers(phone, intent.categories):
        return []
    return phone.tasks.candidates(
        package=intent.package, action=intent.action, data=intent.data, mime_type=intent.mime_type
    )


def _shown(info: PackageInfo, cls: str, way: str) -> str:
    """Return an answer as `--brief` or `--components` has it, or the whole of it."""
    component = shorten(f"{info.package}/{cls}")
    if way == "--components":
        return component
    if way == "--brief":
        return f"{_FACTS}\n{component}"
    return (
        f"{_FACTS}\nActivityInfo:\n  name={cls}\n  packageName={info.package}\n"
        "  enabled=true exported=true directBootAware=false\n  ApplicationInfo:\n"
        f"    packageName={info.package}\n    labelRes=0x0 "
        f"nonLocalizedLabel={info.label} icon=0x0 banner=0x0\n"
        f"    processName={info.package}"
    )
