"""Read calls that a model wrote as text instead of calling a tool."""

from agent.tools.written_calls.names import plain_name
from agent.tools.written_calls.reading import Written, written_calls

__all__ = ["Written", "plain_name", "written_calls"]
