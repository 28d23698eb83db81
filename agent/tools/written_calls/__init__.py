"""Read calls that a model wrote as text instead of calling a tool."""

from agent.tools.written_calls.reading import Written, written_calls

__all__ = ["Written", "written_calls"]
