"""`content`: the providers' rows are the apps' true state, read and changed by SQL conditions."""

import re

from support.connected import Connected

SMS = "content://sms"
PEOPLE = "content://com.android.contacts"


async def test_a_message_that_is_inserted_is_in_the_app_and_in_the_inbox(
    connected: Connected,
) -> None:
    said = await connected.shell(
        f"content insert --uri {SMS}/inbox --bind address:s:+15550199 --bind 'body:s:Gate: 14' "
        "--bind read:i:0"
    )
    assert (said.status, said.text) == (0, "")
    rows = (
        await connected.shell(
            f"content query --uri {SMS}/inbox --projection address:body:type:read "
            "--where \"address='+15550199'\""
        )
    ).text
    assert rows == "Row: 0 address=+15550199, body=Gate: 14, type=1, read=0\n"
    threads = connected.phone.state()["messages"]
    assert isinstance(threads, list)
    assert threads[-1]["messages"][0]["body"] == "Gate: 14" and threads[-1]["unread"] == 1


async def test_messages_keep_their_ids_when_others_are_deleted(connected: Connected) -> None:
    before = (await connected.shell(f"content query --uri {SMS} --projection _id:body")).text
    ids = dict(re.findall(r"_id=(\d+), body=(.*)", before))
    gone = next(iter(ids))
    await connected.shell(f"content delete --uri {SMS}/{gone}")
    after = (await connected.shell(f"content query --uri {SMS} --projection _id:body")).text
    assert dict(re.findall(r"_id=(\d+), body=(.*)", after)) == {
        one: body for one, body in ids.items() if one != gone
    }


async def test_rows_have_the_columns_of_the_sms_provider(connected: Connected) -> None:
    row = (await connected.shell(f"content query --uri {SMS} --sort 'date DESC'")).text
    first = row.splitlines()[0]
    assert re.match(
        r"Row: 0 _id=\d+, thread_id=\d+, address=[^,]+, person=NULL, date=\d{13}, ", first
    )


async def test_a_contact_is_made_of_a_raw_contact_and_its_data(connected: Connected) -> None:
    await connected.shell(
        f"content insert --uri {PEOPLE}/raw_contacts --bind account_type:n: --bind account_name:n:"
    )
    row = (
        await connected.shell(
            f"content query --uri {PEOPLE}/raw_contacts --projection _id --sort '_id DESC'"
        )
    ).text
    number = re.search(r"Row: 0 _id=(\d+)", row)
    assert number is not None
    for kind, value in (("name", "Zoe Park"), ("phone_v2", "+1 555 0177")):
        await connected.shell(
            f"content insert --uri {PEOPLE}/data --bind raw_contact_id:i:{number[1]} "
            f"--bind mimetype:s:vnd.android.cursor.item/{kind} --bind 'data1:s:{value}'"
        )
    said = (
        await connected.shell(
            f"content query --uri {PEOPLE}/data/phones --projection display_name:data1 "
            "--where \"display_name LIKE 'zoe%'\""
        )
    ).text
    assert said == "Row: 0 display_name=Zoe Park, data1=+1 555 0177\n"
    await connected.shell(f"content delete --uri {PEOPLE}/contacts/{number[1]}")
    gone = await connected.shell(f"content query --uri {PEOPLE}/contacts/{number[1]}")
    assert gone.text == "No result found.\n"


async def test_a_setting_is_one_truth_for_content_and_settings(connected: Connected) -> None:
    await connected.shell(
        "content insert --uri content://settings/system --bind name:s:user_rotation "
        "--bind value:i:1"
    )
    assert (await connected.shell("settings get system user_rotation")).text == "1\n"
    said = (
        await connected.shell(
            "content query --uri content://settings/system --projection name:value "
            "--where \"name='user_rotation'\""
        )
    ).text
    assert said == "Row: 0 name=user_rotation, value=1\n"


async def test_a_condition_can_neither_leave_the_rows_nor_hold_the_phone(
    connected: Connected,
) -> None:
    for where in (
        "nope = 1",
        "1=1); DROP TABLE rows; --",
        "1 IN (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c "
        "WHERE x < 0)",
        "length(zeroblob(900000000)) > 1",
        "load_extension('x') = 1",
    ):
        said = await connected.shell(f'content query --uri {SMS} --where "{where}"')
        assert b"SQLiteException" in said.err and said.out == b"", where


async def test_what_the_shell_may_not_see_says_why(connected: Connected) -> None:
    said = await connected.shell("content query --uri content://telephony/carriers")
    assert b"SecurityException: No permission to access APN settings" in said.err
    said = await connected.shell("content query --uri content://nowhere/at/all")
    assert b"Could not find provider: nowhere" in said.err
