"""What all policies of calls derive from."""

class BasePolicy:
    """The settings that all policies share: timeouts, retries, and which copies are read.

    It cannot be instantiated: use `ReadPolicy`, `WritePolicy`, `BatchPolicy` or `QueryPolicy`.
    """
