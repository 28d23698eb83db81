"""A language model behind OpenAI's protocol: the only room that knows the openai SDK."""

from agent.models.openai.client import OpenAIModel

__all__ = ["OpenAIModel"]
