"""`cmd package resolve-activity` and `query-activities`: which activities answer an intent.

The shape is that of PackageManagerShellCommand (runResolveActivity, runQueryIntentActivities) and
ResolveInfo.dump, Android 10 to 14.
"""

import re

from support.connected import Connected

HEAD = r"priority=0 preferredOrder=0 match=0x[0-9a-f]+ specificIndex=-1 isDefault=(?:true|false)"
LAUNCHERS = "-a android.intent.action.MAIN -c android.intent.category.LAUNCHER"


async def test_every_launcher_is_listed_with_a_count_and_a_number_each(
    connected: Connected,
) -> None:
    said = (await connected.shell(f"cmd package query-activities --brief {LAUNCHERS}")).text
    first, *lines = said.splitlines()
    found = re.fullmatch(r"(\d+) activities found:", first)
    assert found is not None and int(found[1]) * 3 == len(lines) > 3 * 10
    for at in range(int(found[1])):
        number, head, component = lines[at * 3 : at * 3 + 3]
        assert number == f"  Activity #{at}:"
        assert re.fullmatch("    " + HEAD, head)
        assert re.fullmatch(r"    [\w.]+/[\w.$]+", component)
    assert "    com.android.settings/.Settings" in lines


async def test_the_long_list_names_each_package_on_a_line(connected: Connected) -> None:
    said = (await connected.shell(f"cmd package query-activities {LAUNCHERS}")).text
    brief = (await connected.shell(f"cmd package query-activities --components {LAUNCHERS}")).text
    packages = [one.split("/")[0] for one in brief.split()]
    named = [line.strip() for line in said.splitlines() if line.startswith("      ")]
    assert [one for one in named if one.startswith("packageName=")][::2] == [
        f"packageName={one}" for one in packages
    ]


async def test_an_intent_of_one_package_and_one_that_nobody_answers(connected: Connected) -> None:
    one = await connected.shell(
        f"cmd package query-activities --brief {LAUNCHERS} -p com.android.settings"
    )
    assert one.text.startswith("1 activities found:\n  Activity #0:\n")
    none = await connected.shell("cmd package query-activities -a com.example.NOBODY")
    assert (none.status, none.text) == (0, "No activities found\n")
    none = await connected.shell("cmd package resolve-activity --brief -a com.example.NOBODY")
    assert (none.status, none.text) == (0, "No activity found\n")


async def test_where_several_answer_the_chooser_is_named(connected: Connected) -> None:
    said = (await connected.shell(f"cmd package resolve-activity --brief {LAUNCHERS}")).text
    assert said.splitlines()[1] == "android/com.android.internal.app.ResolverActivity"
    said = (
        await connected.shell(
            "cmd package resolve-activity --brief -c android.intent.category.LAUNCHER "
            "com.android.notes"
        )
    ).text
    assert re.fullmatch(HEAD + r"\ncom\.android\.notes/[\w.]+\n", said)
