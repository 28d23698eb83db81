"""What a watcher looks for, seen: notifications, messages, screens, pages, moments."""

from agent.records import WatcherStatus
from tests.watchers.conftest import MINUTE_MS, START_MS, Lookout
from tests.watchers.pages import serving

ACTIVE, FIRED, STOPPED = WatcherStatus.ACTIVE, WatcherStatus.FIRED, WatcherStatus.STOPPED


async def test_a_notification_fires_a_watcher_once_and_what_was_there_before_does_not(
    lookout: Lookout,
) -> None:
    lookout.phone.post("Parcel", "is on its way")
    async with lookout.stage.play():
        watcher = await lookout.watch("notification", texts=("parcel",))
        await lookout.ring()
        assert (await lookout.now(watcher)).status is ACTIVE
        lookout.phone.post("Weather", "rain")
        await lookout.ring()
        assert (await lookout.now(watcher)).status is ACTIVE
        lookout.phone.post("Parcel", "has arrived")
        await lookout.ring()
        fired = await lookout.now(watcher)
        assert (fired.status, fired.fired_count, fired.unread) == (FIRED, 1, True)
        assert fired.last_result == "Parcel: has arrived (com.chat on phone-1)"
        assert fired.last_result_hash.startswith("notification:")
        looks = lookout.phone.looks
        lookout.phone.post("Parcel", "again")
        await lookout.ring()
        assert lookout.phone.looks == looks


async def test_a_recurring_watcher_fires_once_for_each_notification(lookout: Lookout) -> None:
    async with lookout.stage.play():
        watcher = await lookout.watch("notification", recurring=True, prompt="Read it")
        lookout.phone.post("One", key="1")
        lookout.phone.post("Two", key="2")
        await lookout.ring()
        await lookout.ring()
        assert (await lookout.now(watcher)).fired_count == 2
        lookout.phone.post("Two", "more of it", key="2")
        await lookout.ring()
        assert (await lookout.now(watcher)).fired_count == 3
        # Taken away and posted again is posted again.
        lookout.phone.shade.clear()
        await lookout.ring()
        lookout.phone.post("One", key="1")
        await lookout.ring()
        assert (await lookout.now(watcher)).fired_count == 4
        assert len(await lookout.jobs()) == 4


async def test_only_notifications_of_the_named_app_and_words_count(lookout: Lookout) -> None:
    async with lookout.stage.play():
        wanted = {"package": "com.bank", "texts": ("paid", "rent"), "recurring": True}
        every = await lookout.watch("notification", **wanted)
        some = await lookout.watch("notification", **wanted, match_any=True)
        lookout.phone.post("Paid", "the rent", package="com.other")
        lookout.phone.post("Rent", "is due", package="com.bank", key="a")
        await lookout.ring()
        lookout.phone.post("PAID", "your RENT", package="com.bank", key="b")
        await lookout.ring()
        assert (await lookout.now(every)).fired_count == 1
        assert (await lookout.now(some)).fired_count == 2


async def test_a_quiet_look_stores_nothing(lookout: Lookout) -> None:
    async with lookout.stage.play():
        watcher = await lookout.watch("notification")
        for _ in range(5):
            await lookout.ring()
        assert lookout.phone.looks == 6
        assert await lookout.changes(watcher) == ["created", "looked"]


async def test_a_message_of_the_named_sender_fires_and_of_others_does_not(lookout: Lookout) -> None:
    async with lookout.stage.play():
        watcher = await lookout.watch("message_reply", sender="Ana")
        lookout.phone.post("Ben", "did Ana write?")
        await lookout.ring(after_ms=5 * MINUTE_MS)
        assert (await lookout.now(watcher)).status is ACTIVE
        lookout.phone.post("Family group", "Ana: on my way", key="g")
        await lookout.ring(after_ms=5 * MINUTE_MS)
        fired = await lookout.now(watcher)
        assert fired.status is FIRED
        assert fired.last_result_hash.startswith("message_reply:")


async def test_a_text_fires_when_it_comes_onto_the_screen_and_not_while_it_stays(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        watcher = await lookout.watch(
            "screen_text", texts=("delivered",), package="com.shop", recurring=True
        )
        for shown, fired in (
            (["On its way"], 0),
            (["Delivered"], 1),
            (["Delivered", "today"], 1),
            (["Home"], 1),
            (["pw:delivered"], 1),
            (["DELIVERED"], 2),
        ):
            lookout.phone.shown = shown
            await lookout.ring()
            assert (await lookout.now(watcher)).fired_count == fired, shown


async def test_a_page_fires_when_its_words_change(lookout: Lookout) -> None:
    lookout.stage.set(watchers={"allow_private": True})
    async with serving() as pages, lookout.stage.play():
        pages.bodies["/"] = "<p>Sold out</p>"
        watcher = await lookout.watch("web_change", url=pages.url(), prompt="Buy {{event.url}}")
        await lookout.ring(after_ms=15 * MINUTE_MS)
        assert (await lookout.now(watcher)).status is ACTIVE
        pages.bodies["/"] = "<p>In stock</p>"
        await lookout.ring(after_ms=15 * MINUTE_MS)
        assert (await lookout.now(watcher)).status is FIRED
        [job] = await lookout.jobs()
        assert "text: In stock" in job.prompt
        assert len(pages.asked) == 3


async def test_a_page_fires_when_it_comes_to_say_something(lookout: Lookout) -> None:
    lookout.stage.set(watchers={"allow_private": True})
    async with serving() as pages, lookout.stage.play():
        wanted = {"url": pages.url(), "evaluator": "text_contains", "texts": ("in stock",)}
        pages.bodies["/"] = "<p>Sold out</p>"
        watcher = await lookout.watch("web_change", recurring=True, **wanted)
        for words, fired in (
            ("new", 0),
            ("In stock", 1),
            ("In stock!", 1),
            ("no", 1),
            ("in stock", 2),
        ):
            pages.bodies["/"] = words
            await lookout.ring(after_ms=15 * MINUTE_MS)
            assert (await lookout.now(watcher)).fired_count == fired, words


async def test_a_private_page_is_never_asked_for_and_the_failures_put_it_off(
    lookout: Lookout,
) -> None:
    async with serving() as pages, lookout.stage.play():
        watcher = await lookout.watch("web_change", url=pages.url(), interval_ms=15_000)
        failing = await lookout.now(watcher)
        assert "not on the internet" in failing.last_result
        assert "watchers.allow_private" in failing.last_result
        for failures, minutes in ((2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 32)):
            await lookout.ring(after_ms=failing.next_run_at - (lookout.stage.now_ms or 0))
            failing = await lookout.now(watcher)
            assert failing.failure_count == failures
            assert failing.next_run_at - (lookout.stage.now_ms or 0) == minutes * MINUTE_MS
            assert bool(failing.failure_alert_at) is (failures >= 3)
        assert failing.status is ACTIVE
        assert pages.asked == []


async def test_a_time_fires_once_and_a_beat_again_and_again_without_catching_up(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        once = await lookout.watch("time", next_run_at=START_MS + MINUTE_MS)
        beat = await lookout.watch("time", interval_ms=MINUTE_MS)
        await lookout.ring(after_ms=MINUTE_MS - 1)
        assert (await lookout.now(once)).fired_count == 0
        await lookout.ring(after_ms=1)
        assert (await lookout.now(once)).status is FIRED
        await lookout.ring(after_ms=10 * MINUTE_MS)
        beating = await lookout.now(beat)
        assert (beating.status, beating.fired_count) == (ACTIVE, 2)
        assert beating.next_run_at == START_MS + 12 * MINUTE_MS


async def test_notifications_that_could_not_be_read_are_said_until_they_can(
    lookout: Lookout,
) -> None:
    lookout.phone.unread = 22
    async with lookout.stage.play():
        watcher = await lookout.watch("notification", texts=("parcel",), recurring=True)
        seen = await lookout.now(watcher)
        assert "phone-1: could not read 22 of 22 notifications" in seen.shortfall
        assert seen.failure_count == 0
        lookout.phone.post("Parcel", "has arrived")
        await lookout.ring()
        seen = await lookout.now(watcher)
        assert (seen.fired_count, "22 of 23" in seen.shortfall) == (1, True)
        lookout.phone.unread = 0
        await lookout.ring()
        assert (await lookout.now(watcher)).shortfall == ""


async def test_silence_is_not_claimed_where_notifications_could_not_be_read(
    lookout: Lookout,
) -> None:
    async with lookout.stage.play():
        watcher = await lookout.watch(
            "message_reply",
            sender="Ana",
            notify_on="no_reply",
            deadline_at=START_MS + 5 * MINUTE_MS,
        )
        lookout.phone.unread = 1
        await lookout.ring(after_ms=6 * MINUTE_MS)
        ended = await lookout.now(watcher)
    assert ended.last_result.startswith("Whether Ana has written is not known: phone-1: could not")
