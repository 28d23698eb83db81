"""The job record on the wire is exactly the contract's: seventeen fields, all of them required."""

from __future__ import annotations

import msgspec
import pytest

from agent.records import Job, JobStatus, JobType

FIELDS = {
    "id": "integer",
    "type": "JobType",
    "title": "string",
    "prompt": "string",
    "payload_json": "object",
    "schedule_json": "object",
    "session_target": "string",
    "delivery_json": "object",
    "status": "JobStatus",
    "created_at": "integer",
    "updated_at": "integer",
    "next_run_at": "integer",
    "running_at": "integer",
    "last_run_at": "integer",
    "last_result": "string",
    "failure_count": "integer",
    "failure_alert_at": "integer",
}


def test_the_schema_of_a_job_has_the_seventeen_fields_and_requires_each() -> None:
    schema = msgspec.json.schema(Job)["$defs"]["Job"]
    kinds = {
        name: field.get("type") or field["$ref"].rsplit("/", 1)[1]
        for name, field in schema["properties"].items()
    }
    assert kinds == FIELDS
    assert set(schema["required"]) == set(FIELDS)


def test_the_words_of_type_and_status_are_those_of_the_newer_schema() -> None:
    assert {str(kind) for kind in JobType} == {"agent_turn", "system_event", "heartbeat"}
    assert {str(status) for status in JobStatus} == {
        "active",
        "queued",
        "running",
        "waiting",
        "awaiting_review",
        "paused",
        "completed",
        "failed",
        "stopped",
        "dispatched",
    }


@pytest.mark.parametrize("field", FIELDS)
def test_a_record_without_a_field_is_no_job(field: str) -> None:
    whole = {
        name: {"integer": 1, "string": "x", "object": {}}.get(kind, "")
        for name, kind in FIELDS.items()
    }
    whole |= {"type": "heartbeat", "status": "active"}
    assert msgspec.convert(whole, Job).id == 1
    del whole[field]
    with pytest.raises(msgspec.ValidationError, match=field):
        msgspec.convert(whole, Job)
