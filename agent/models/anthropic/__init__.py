"""A language model behind Anthropic's Messages API: the only room that knows the anthropic SDK."""

from agent.models.anthropic.client import AnthropicModel

__all__ = ["AnthropicModel"]
