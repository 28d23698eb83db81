"""The session calls of Codex Android's desktop bridge, answered by a Core: `androidSession/…`."""
