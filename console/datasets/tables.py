"""The tables of a dataset, column by column: the one place that says what they hold.

Not the filling of them. Invariants: every column has a sentence here, which the dataset's own page
and docs/datasets.md quote; a schema carries the metadata by which `datasets` knows its pictures.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import pyarrow as pa

from agent.text import counted

FORMAT = 1  # The version of these tables; a reader takes its own and older ones.

STRING, INT, LONG, SHARE, TRUTH, PICTURE, BYTES = (
    "string",
    "int32",
    "int64",
    "float32",
    "bool",
    "image",
    "binary",
)
_ARROW = {
    STRING: pa.string(),
    INT: pa.int32(),
    LONG: pa.int64(),
    SHARE: pa.float32(),
    TRUTH: pa.bool_(),
    PICTURE: pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
    BYTES: pa.binary(),
}


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: str
    meaning: str


class Table(NamedTuple):
    """One table: a folder of Parquet files."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """Its Arrow schema, with the features by which the library `datasets` reads it."""
        features = {
            one.name: {"_type": "Image"}
            if one.kind == PICTURE
            else {"dtype": one.kind, "_type": "Value"}
            for one in self.columns
        }
        return pa.schema(
            [(one.name, _ARROW[one.kind]) for one in self.columns],
            metadata={"huggingface": json.dumps({"info": {"features": features}})},
        )


EPISODES = Table(
    "episodes",
    "One row for each session or episode.",
    (
        Column("episode_id", STRING, "The session's id."),
        Column("episode_index", LONG, "Its place in the dataset, from 0."),
        Column("goal", STRING, "What was asked for."),
        Column("parent_id", STRING, "The session that delegated it; empty without one."),
        Column("model", STRING, "The model that decided."),
        Column("serial", STRING, "The phone."),
        Column("state", STRING, "How it ended: COMPLETED, FAILED or CANCELLED."),
        Column("verdict", STRING, "Whether the goal is met: met, not_met or cannot_tell."),
        Column(
            "verified_by", STRING, "Who: checker, operator, effects, verifier, rules or nobody."
        ),
        Column("result", STRING, "What it reported, or the error that it ended with."),
        Column("tags", STRING, "The operator's tags, as a JSON list."),
        Column("created_ms", LONG, "When it was created, in milliseconds since the epoch."),
        Column("length", LONG, "Rows of it in `steps`."),
        Column("input_tokens", LONG, "Tokens that its model read."),
        Column("output_tokens", LONG, "Tokens that its model wrote."),
        Column("cost_usd", SHARE, "What its model calls cost."),
        Column("session", STRING, "The whole session record as JSON."),
    ),
)
STEPS = Table(
    "steps",
    "One row for each decision: what was seen, what was done, what came of it.",
    (
        Column("episode_id", STRING, "The session's id."),
        Column("episode_index", LONG, "The episode's place in the dataset."),
        Column("frame_index", LONG, "The row's place in the episode, from 0."),
        Column("step", INT, "The step's number in the session; a step may have several rows."),
        Column("timestamp_ms", LONG, "When the decision was stored, since the epoch."),
        Column("goal", STRING, "What was asked for: the instruction."),
        Column("image", PICTURE, "The screen, encoded as it was stored; null without a picture."),
        Column("image_digest", STRING, "The sha256 of its bytes."),
        Column("width_px", INT, "The screen's width."),
        Column("height_px", INT, "The screen's height."),
        Column("package", STRING, "The app in front."),
        Column("activity", STRING, "Its activity."),
        Column("screen_text", STRING, "The screen in words, as the model read it."),
        Column("elements", STRING, "The numbered elements that a model may name, as JSON."),
        Column("tree", STRING, "The UI tree: a JSON list of nodes, parents first."),
        Column("tree_digest", STRING, "The sha256 of the tree as the phone wrote it."),
        Column("thought", STRING, "What the model said beside its call."),
        Column("tool", STRING, "The tool that was called; empty on a row that only looks."),
        Column("kind", STRING, "observe, action or control."),
        Column("arguments", STRING, "The call's arguments as a JSON object."),
        Column("call_id", STRING, "The call's id."),
        Column("element", STRING, "The element that was acted on, as JSON; empty without one."),
        Column("x", SHARE, "Where it was touched, from the left, in [0, 1]; null for no touch."),
        Column("y", SHARE, "Where it was touched, from the top, in [0, 1]."),
        Column("path", STRING, "The places of a gesture with several, as JSON pairs."),
        Column("decision", STRING, "What the policy said: allow, ask or block."),
        Column("outcome", STRING, "done, failed or unknown; empty while it is not known."),
        Column("observation", STRING, "What the tool answered."),
        Column("prompt", STRING, "The request to the model, as JSON; empty when it is not kept."),
        Column("prompt_digest", STRING, "The sha256 of its bytes."),
        Column("reply", STRING, "The model's answer, as JSON."),
        Column("reply_digest", STRING, "The sha256 of its bytes."),
        Column("reward", SHARE, "1 on the last row of an episode whose goal is met, else 0."),
        Column("terminated", TRUTH, "The episode ended here by itself: completed or failed."),
        Column("truncated", TRUTH, "The episode was broken off here."),
    ),
)
EVENTS = Table(
    "events",
    "Every stored event, in order: what an import rebuilds the session from.",
    (
        Column("episode_id", STRING, "The session's id."),
        Column("seq", LONG, "The event's place in the session."),
        Column("ts_ms", LONG, "When it was stored, in milliseconds since the epoch."),
        Column("type", STRING, "The event's type, as in docs/protocol.md."),
        Column("payload", STRING, "The event as JSON."),
    ),
)
BLOBS = Table(
    "blobs",
    "Bytes that events name and no row of `steps` holds: UI trees as XML, evidence.",
    (
        Column("episode_id", STRING, "The session's id."),
        Column("digest", STRING, "The sha256 of the bytes."),
        Column("media_type", STRING, "What they are."),
        Column("data", BYTES, "The bytes."),
    ),
)
TABLES = (EPISODES, STEPS, EVENTS, BLOBS)


def described() -> str:
    """Write all tables down in Markdown: a heading and a row for each column."""
    lines: list[str] = []
    for table in TABLES:
        lines += [f"### {table.name}", "", table.meaning, "", "| column | type | meaning |"]
        lines.append("|---|---|---|")
        lines += [f"| `{c.name}` | {c.kind} | {c.meaning} |" for c in table.columns]
        lines.append("")
    return "\n".join(lines)


def card(episodes: int, steps: int) -> str:
    """Write the page of a dataset, with the head by which `load_dataset` finds its tables.

    Args:
        episodes: how many it holds.
        steps: how many rows `steps` has.
    """
    head = ["---", "configs:"]
    for table in (STEPS, EPISODES, EVENTS, BLOBS):
        head += [f"- config_name: {table.name}", f"  data_files: {table.name}/*.parquet"]
        if table is STEPS:
            head.append("  default: true")
    head += ["tags:", "- android", "- agents", "---"]
    return "\n".join(
        [
            *head,
            "# Sessions on Android phones",
            "",
            f"{counted(episodes, 'episode')}, {counted(steps, 'step')}, written by "
            "`switchboard dataset export`. What is redacted in the store is redacted here too.",
            "",
            described(),
        ]
    )
