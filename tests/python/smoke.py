"""A wheel that was just built, without pytest: it imports, connects and keeps a record. For the release workflow."""

import asyncio
import sys

import aerolane
from aerolane import Client, DataSet
from aerolane.testing import EmbeddedCluster


async def main() -> None:
    """Writes and reads one record on an embedded cluster."""
    with EmbeddedCluster() as cluster:
        async with Client(cluster.seeds) as client:
            session = client.create_session()
            key = DataSet.of("test", "smoke").id(1)
            await session.put(key, {"n": 42})
            record = await session.get(key)
            assert record.bins == {"n": 42}, record


if __name__ == "__main__":
    asyncio.run(main())
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"aerolane {aerolane.__version__} on Python {sys.version.split()[0]}, GIL {'on' if gil else 'off'}: works")
