"""`Client`, where the SDK has it."""

from aerolane import Client

__all__ = ["Client"]
