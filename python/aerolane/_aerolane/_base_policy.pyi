"""What all policies of calls derive from."""

class BasePolicy:
    """What the policies of calls have in common: timeouts, retries, and which copies are read.

    It cannot be made itself: use `ReadPolicy`, `WritePolicy`, `BatchPolicy` or `QueryPolicy`.
    """
