"""What all policies of calls derive from."""

class BasePolicy:
    """What the policies of calls have in common: timeouts, retries, and which copies are read."""
