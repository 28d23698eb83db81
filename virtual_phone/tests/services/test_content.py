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


CONVERSATIONS = "content://mms-sms/conversations"


async def test_conversations_are_a_row_each_with_the_numbers_of_their_addresses(
    connected: Connected,
) -> None:
    """MmsSmsProvider: the table `threads`, and `canonical_addresses` for `recipient_ids`."""
    said = await connected.shell(
        f"content query --uri '{CONVERSATIONS}?simple=true' --projection "
        "_id:message_count:read:archived:recipient_ids:snippet --where 'message_count>0'"
    )
    rows = re.findall(
        r"^Row: \d+ _id=(\d+), message_count=(\d+), read=([01]), archived=0, recipient_ids=(\d+), "
        r"snippet=(.*)$",
        said.text,
        re.M,
    )
    threads = connected.phone.state()["messages"]
    assert isinstance(threads, list) and len(rows) == len(threads)
    listed = await connected.shell("content query --uri content://mms-sms/canonical-addresses")
    addresses = dict(re.findall(r"_id=(\d+), address=(.*)", listed.text))
    by_number = {one["number"]: one for one in threads}
    for number, count, read, recipient, snippet in rows:
        thread = by_number[addresses[recipient]]
        assert (number, count) == (str(thread["id"]), str(len(thread["messages"])))
        assert (read, snippet) == (str(int(not thread["unread"])), thread["messages"][-1]["body"])


async def test_the_simple_list_is_by_date_whatever_order_is_asked(connected: Connected) -> None:
    """getSimpleConversations passes on ` date DESC` alone, neither an order nor its LIMIT."""
    plain = f"content query --uri '{CONVERSATIONS}?simple=true' --projection _id:date"
    said = (await connected.shell(plain)).text
    assert (await connected.shell(f"{plain} --sort 'date ASC LIMIT 1'")).text == said
    dates = [int(one) for one in re.findall(r"date=(\d+)", said)]
    assert len(dates) > 1 and dates == sorted(dates, reverse=True)


async def test_conversations_that_are_not_simple_are_messages(connected: Connected) -> None:
    said = (await connected.shell(f"content query --uri {CONVERSATIONS}")).text
    assert re.match(r"Row: 0 _id=\d+, date=\d{13}, date_sent=\d+, read=[01], thread_id=", said)
    assert len(re.findall(r"^Row: ", said, re.M)) == len(set(re.findall(r"thread_id=\d+", said)))


async def test_multimedia_messages_are_tables_without_rows(connected: Connected) -> None:
    for uri, column in (("mms", "thread_id"), ("mms/part", "mid"), ("mms/addr", "msg_id")):
        said = await connected.shell(f"content query --uri content://{uri} --where '{column}=1'")
        assert (said.status, said.text, said.err) == (0, "No result found.\n", b"")


async def test_a_number_is_found_however_it_is_written(connected: Connected) -> None:
    for number in ("%2B1%20555%200101", "15550101", "(555)%200101"):
        said = await connected.shell(
            f"content query --uri '{PEOPLE}/phone_lookup/{number}' --projection display_name"
        )
        assert said.text == "Row: 0 display_name=Ana Silva\n", number
    said = await connected.shell(f"content query --uri {PEOPLE}/phone_lookup/15559999")
    assert said.text == "No result found.\n"


async def test_people_are_searched_by_the_beginnings_of_their_names(connected: Connected) -> None:
    said = await connected.shell(
        f"content query --uri {PEOPLE}/data/phones/filter/ana%20s --projection display_name:data1"
    )
    assert said.text == "Row: 0 display_name=Ana Silva, data1=+1 555 0101\n"


async def test_instances_are_the_events_between_two_times(connected: Connected) -> None:
    now = int(connected.phone.now() * 1000)
    uri = f"content://com.android.calendar/instances/when/{now}/{now + 7 * 86_400_000}"
    said = await connected.shell(f"content query --uri {uri} --projection begin:end:title")
    begins = [int(one) for one in re.findall(r"begin=(\d+)", said.text)]
    assert begins and begins == sorted(begins)
    assert all(int(end) >= now for end in re.findall(r"end=(\d+)", said.text))


async def test_what_is_wrong_goes_where_android_writes_it_and_the_status_is_0(
    connected: Connected,
) -> None:
    """Content.java prints the usage and the reason to stdout, and sets no status."""
    for words, reason in (
        ("", "Unsupported operation: null"),
        ("frobnicate", "Unsupported operation: frobnicate"),
        ("query --uri", "No value for argument: --uri"),
        ("query", "Content provider URI not specified. Did you specify --uri argument?"),
        (f"query --uri {SMS} --bind a:s:b", "Unsupported argument: --bind"),
        (f"insert --uri {SMS}", "Bindings not specified. Did you specify --bind argument(s)?"),
        (f"insert --uri {SMS} --bind body", "Binding not well formed: body"),
    ):
        said = await connected.shell(f"content {words}")
        assert (said.status, said.err) == (0, b""), words
        assert said.text.startswith("usage: adb shell content"), words
        assert said.text.endswith(f"\n[ERROR] {reason}\n"), words
    said = await connected.shell("content query --uri content://mms-sms/nowhere")
    assert (said.status, said.out) == (0, b"")
    assert said.err == (
        b"Error while accessing provider:mms-sms\n"
        b"java.lang.IllegalStateException: Unrecognized URI:content://mms-sms/nowhere\n"
    )


async def test_a_picture_is_read_by_its_address(connected: Connected) -> None:
    listed = await connected.shell(
        "content query --uri content://media/external/images/media --projection _id:_size"
    )
    number, size = re.findall(r"_id=(\d+), _size=(\d+)", listed.text)[0]
    said = await connected.shell(
        f"content read --uri content://media/external/images/media/{number}"
    )
    assert len(said.out) == int(size)
