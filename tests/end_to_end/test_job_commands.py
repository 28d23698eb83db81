"""`switchboard jobs edit` and `commitments show`, with no core open and over the socket of one."""

import pytest

from tests.end_to_end.harness import Workshop
from tests.end_to_end.test_sessions import daemon


@pytest.mark.slow
def test_a_job_is_changed_by_what_is_named_and_a_commitment_is_shown_whole(
    workshop: Workshop,
) -> None:
    made = workshop.call("jobs", "create", "look at it", "--every", "1h", "--json").json
    assert workshop.call("jobs", "edit", "1").code == 2, "nothing to change"
    options = ("--cron", "0 8 * * 1-5", "--timezone", "Europe/Berlin", "--quiet", "22:00-07:00")
    changed = workshop.call("jobs", "edit", "1", *options, "--silent", "--json").json
    assert (changed["prompt"], changed["title"]) == (made["prompt"], made["title"])
    assert changed["delivery_json"]["mode"] == "silent"
    schedule = changed["schedule_json"]
    assert (schedule["cron"], schedule["interval_ms"]) == ("0 8 * * 1-5", 0)
    assert schedule["quiet"] == {"since": "22:00", "until": "07:00"}
    assert workshop.call("commitments", "create", "call Ana", "--due", "2h").code == 0
    alone = workshop.call("commitments", "show", "1")
    assert "call Ana" in alone.out
    with daemon(workshop, "--phones", "0"):
        assert workshop.call("commitments", "show", "1").out == alone.out
        assert workshop.call("commitments", "show", "2").code == 2
        once = workshop.call("jobs", "edit", "1", "--once", "--no-quiet", "--json").json
        assert {"cron", "quiet"}.isdisjoint(once["schedule_json"])
        assert workshop.call("jobs", "stop", "1").code == 0
        late = workshop.call("jobs", "edit", "1", "--title", "too late")
        assert (late.code, "is stopped" in late.err) == (4, True), late
