"""Where the SDK has its classes for asyncio: here they are in `aerolane` itself."""
