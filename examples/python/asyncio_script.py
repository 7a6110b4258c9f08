"""Counts the words of a text with asyncio: `python asyncio_script.py [host:port]`.

Without an address it starts a cluster in memory. It shows one client for the whole program, many calls at once with a
limit on them, and what to do with errors.
"""

import asyncio
import contextlib
import sys
from collections import Counter

from aerolane import AerospikeError, Client, DataSet, execute_concurrent
from aerolane.testing import EmbeddedCluster

WORDS = DataSet.of("test", "words")
TEXT = """
One client for the whole program, one session for all its calls.
Many calls share a few connections; the client decides how many.
A call that fails says what happened, and whether a write may have been applied.
"""


async def count(session, words):
    """Adds words to those in the database: a call for each of them, at most 64 at a time."""
    changes = (session.upsert(WORDS.id(word)).bin("count").add(number) for word, number in Counter(words).items())
    await execute_concurrent(session, changes, concurrency=64)


async def counts(session, words):
    """Reads how often words were counted, all of them in one batch."""
    results = await session.query(WORDS.ids(*words)).execute()
    return {result.key.value: result.record_or_raise().bins["count"] async for result in results}


async def main(seeds):
    words = [word.strip(".,;").lower() for word in TEXT.split()]
    async with Client(seeds) as client:
        session = client.create_session()
        try:
            await count(session, words)
            found = await counts(session, set(words))
        except AerospikeError as error:
            print(error, file=sys.stderr)
            print("some words may have been counted" if error.in_doubt else "try again", file=sys.stderr)
            return 1
    for word, number in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:3]:
        print(number, word)
    return 0


if __name__ == "__main__":
    with contextlib.ExitStack() as stack:
        seeds = sys.argv[1] if len(sys.argv) > 1 else stack.enter_context(EmbeddedCluster()).seeds
        sys.exit(asyncio.run(main(seeds)))
