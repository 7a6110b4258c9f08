"""Nine sets of records, as a recommendation service reads them: of a user, of items, of their context."""

import concurrent.futures
from collections.abc import Iterator
from random import Random
from typing import Any

from aerolane.bench.clients.calls import Unsupported
from aerolane.bench.spec import RunSpec

SETS = tuple(f"features_{number}" for number in range(1, 10))
# Nobody has written records of this one: that records are missing is a case of its own.
EMPTY = SETS[7]
# Records of each set, at the most.
MOST_RECORDS = 20_000
# Bins of a record: so many numbers for the model's dense part, and so many categories.
DENSE, CATEGORIES = 4, 2
# Values of a category.
VOCABULARY = 1_000

Bins = dict[str, Any]


def records(spec: RunSpec) -> int:
    """Records of each set."""
    return min(spec.keys, MOST_RECORDS)


def bins(number: int) -> Bins:
    """The record of a number, the same in every set."""
    random = Random(number)
    found: Bins = {f"d{place}": random.random() for place in range(DENSE)}
    found |= {f"c{place}": random.randrange(VOCABULARY) for place in range(CATEGORIES)}
    return found | {"name": f"feature {number:012}"}


def numbers(request: int, count: int, among: int) -> list[int]:
    """Which records of each set a request asks for. Every client gets the same."""
    random = Random(request)
    return [random.randrange(among) for _ in range(count)]


def load(spec: RunSpec) -> int:
    """Writes all records, with our own client; returns how many. Raises `Unsupported` where one is not written."""
    from aerolane import native

    client = native.new_client_blocking(native.ClientPolicy(), spec.seeds)
    count, part = records(spec), 500

    def write(name: str, begin: int) -> int:
        wanted = range(begin, min(begin + part, count))
        keys = [native.Key.from_int_user_key(spec.namespace, name, number) for number in wanted]
        rows = client.batch_write_blocking(keys, [bins(number) for number in wanted])
        failed = [row for row in rows if row.result_code]
        if failed:
            raise Unsupported(f"{len(failed)} of {len(rows)} records of {name} were not written: {failed[0]}")
        return len(rows)

    def parts() -> Iterator[tuple[str, int]]:
        return ((name, begin) for name in SETS if name != EMPTY for begin in range(0, count, part))

    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda asked: write(*asked), parts()))
    finally:
        client.close_blocking()
