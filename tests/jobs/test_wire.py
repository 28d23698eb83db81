"""The job record on the wire is exactly the contract's: seventeen fields, all of them required."""

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

NEWER = {
    "phase": "string",
    "progress_text": "string",
    "progress_current": "integer",
    "progress_total": "integer",
    "checkpoint_json": "object",
    "pending_confirmation_id": "string",
    "pending_tool_request_json": "object",
    "last_surface_id": "string",
    "resume_token": "string",
    "last_event_at": "integer",
    "unread_result": "boolean",
    "paused_at": "integer",
    "host": "string",
}
"""Of the newer schema: there only while they say something."""


def test_the_schema_of_a_job_has_the_seventeen_fields_and_requires_each() -> None:
    schema = msgspec.json.schema(Job)["$defs"]["Job"]
    kinds = {
        name: field.get("type") or field["$ref"].rsplit("/", 1)[1]
        for name, field in schema["properties"].items()
    }
    assert kinds == FIELDS | NEWER
    assert set(schema["required"]) == set(FIELDS)
    assert schema["additionalProperties"] is False
    limits = schema["properties"]
    assert (limits["id"]["minimum"], limits["title"]["minLength"]) == (1, 1)
    assert limits["last_result"]["maxLength"] == 4000
    assert limits["pending_confirmation_id"]["maxLength"] == 200
    stamps = [name for name in kinds if name.endswith("_at") or name == "failure_count"]
    assert all(limits[name]["minimum"] == 0 for name in stamps)


def test_a_plain_job_has_the_fields_of_the_first_schema_only_on_the_wire() -> None:
    job = msgspec.convert(
        {
            **{
                name: {"integer": 1, "string": "x", "object": {}}.get(kind, "")
                for name, kind in FIELDS.items()
            },
            "type": "heartbeat",
            "status": "active",
            "session_target": "main",
        },
        Job,
    )
    assert set(msgspec.to_builtins(job)) == set(FIELDS)
    waits = msgspec.structs.replace(job, pending_confirmation_id="job-confirm-1")
    assert set(msgspec.to_builtins(waits)) - set(FIELDS) == {"pending_confirmation_id"}


def test_the_words_of_type_and_status_are_those_of_the_newer_schema() -> None:
    # A campaign is our own, and never on the wire of a program that asked for none.
    theirs = {str(kind) for kind in JobType} - {JobType.CAMPAIGN}
    assert theirs == {"agent_turn", "system_event", "heartbeat"}
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
    whole |= {"type": "heartbeat", "status": "active", "session_target": "main"}
    assert msgspec.convert(whole, Job).id == 1
    del whole[field]
    with pytest.raises(msgspec.ValidationError, match=field):
        msgspec.convert(whole, Job)
