"""What a person reads of a tool's reply: every reply of ours is said in a sentence."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.reply_words import in_words

SAID = [
    (
        {"status": "background_job.created", "job_id": 4, "title": "Look", "next_run_at": 17},
        "Job 4 “Look” was created.",
    ),
    ({"status": "background_job.stopped", "job_id": 4}, "Job 4 was stopped."),
    ({"status": "background_job.not_found", "job_id": 9}, "There is no job 9."),
    ({"status": "background_job.create_failed", "reason": "cron is '7'"}, "cron is '7'."),
    ({"status": "error", "reason": "empty_background_job"}, "Refused: empty background job."),
    (
        {"status": "watcher.refused", "reason": "It is no page.", "remedy": "Give another"},
        "It is no page. Give another.",
    ),
    ({"status": "watcher.stopped", "watcher_ids": []}, "No watcher was stopped."),
    ({"status": "watcher.stopped", "watcher_ids": [3]}, "Watcher 3 was stopped."),
    ({"status": "watcher.stopped", "watcher_ids": [3, 5]}, "Watchers 3, 5 were stopped."),
    (
        {"status": "commitment.updated", "commitment_id": 2, "commitment_status": "snoozed"},
        "Commitment 2 is snoozed.",
    ),
    ({"status": "something.new_here"}, "something: new here."),
]


@pytest.mark.parametrize(("reply", "said"), SAID, ids=[said for _, said in SAID])
def test_a_reply_is_said_in_a_sentence(reply: dict[str, object], said: str) -> None:
    assert in_words(json.dumps(reply)) == said


@pytest.mark.parametrize("text", ["OK. Opened Clock.", "", "{", "[1]", '{"job_id": 4}', "null"])
def test_what_is_no_reply_comes_out_as_it_is(text: str) -> None:
    assert in_words(text) == text


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(["reason", "title", "remedy"]), st.text()), st.text())
def test_whatever_stands_in_a_reply_something_is_said(texts: dict[str, str], status: str) -> None:
    assert isinstance(in_words(json.dumps({"status": status, **texts})), str)
