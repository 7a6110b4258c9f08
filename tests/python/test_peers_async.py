"""Builders and sessions for asyncio, beside aerospike-sdk: awaited, iterated, streamed, closed."""

import asyncio

import pytest
from sdk_sides import BINS, Raised, plain

import aerolane
from aerolane.testing import EmbeddedCluster

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")


@pytest.fixture(scope="module")
def address():
    with EmbeddedCluster(nodes=1, build="8.2.0.0") as cluster:
        host, port = cluster.seeds.rsplit(":", 1)
        yield host, int(port)


async def of_a_side(package, address, program):
    async with package.ClusterDefinition(*address).connect() as cluster:
        session = cluster.create_session()
        dataset = package.DataSet.of("test", f"async_{package.__name__}")
        await session.truncate(dataset)
        keys = dataset.ids("one", "two", "missing")
        await session.put(keys[0], BINS)
        await session.put(keys[1], {"i": 2})
        try:
            return plain(await program(package, session, dataset, keys))
        except Exception as error:
            return Raised(error)


async def each(stream):
    return [result async for result in stream]


async def streamed(builder):
    async with builder.stream() as stream:
        return sorted([plain(result) async for result in stream], key=str)


async def awaited_stream(builder):
    stream = await builder.stream()
    found = await stream.collect()
    stream.close()
    return sorted(map(plain, found), key=str)


async def closed_early(builder):
    async with builder.stream() as stream:
        async for result in stream:
            return result.is_ok


async def chunks(session, dataset):
    for n in range(20):
        await session.put(dataset.id(n), {"g": n})
    stream = await session.query(dataset).bins("g").chunk_size(7).execute()
    found = []
    while await stream.has_more_chunks():
        found += [result.record.bins.get("g") async for result in stream]
    return sorted(n for n in found if n is not None)


async def in_a_transaction(session, key):
    async def operation(inner):
        await inner.upsert(key).put({"i": 11}).execute()
        return (await inner.get(key)).bins["i"]

    return await session.do_in_transaction(operation)


async def left_by_an_error(session, key):
    with pytest.raises(ZeroDivisionError):
        async with session.transaction() as inner:
            assert inner.active
            raise ZeroDivisionError
    return (await session.get(key)).bins["i"]


async def gathered(session, keys):
    return await asyncio.gather(*(session.query(key).execute() for key in keys[:2]), return_exceptions=True)


async def told(package, session, keys):
    heard = []
    stream = await session.update(keys).put({"i": 1}).execute(lambda *failure: heard.append(failure[1]))
    return [result.key.value async for result in stream], heard


PROGRAMS = {
    "collect": lambda p, s, d, k: collect(s.query(k)),
    "one": lambda p, s, d, k: collect(s.upsert(k[0]).put({"i": 1})),
    "iteration": lambda p, s, d, k: iterated(s.query(k).include_missing_keys()),
    "first": lambda p, s, d, k: s.query(k[2]).first(),
    "first_or_raise": lambda p, s, d, k: s.query(k[2]).first_or_raise(),
    "a failure": lambda p, s, d, k: s.update(k[2]).put({"i": 1}).execute(),
    "a handler": lambda p, s, d, k: told(p, s, k),
    "stream": lambda p, s, d, k: streamed(s.query(k)),
    "awaited stream": lambda p, s, d, k: awaited_stream(s.upsert(k).put({"i": 9})),
    "closed early": lambda p, s, d, k: closed_early(s.query(k[:2])),
    "chunks": lambda p, s, d, k: chunks(s, d),
    "exists": lambda p, s, d, k: streamed(s.exists(k)),
    "delete": lambda p, s, d, k: streamed(s.delete(k)),
    "touch": lambda p, s, d, k: collect(s.touch(k)),
    "rows": lambda p, s, d, k: collect(s.upsert(d).bins("a").default_never_expire().row(1, 2).row(3, 4)),
    "get_many": lambda p, s, d, k: s.get_many(k[:2], ["i"]),
    "get_many, missing": lambda p, s, d, k: codes(s.get_many(k)),
    "put_many": lambda p, s, d, k: s.put_many(k, {"z": 1}),
    "get, missing": lambda p, s, d, k: s.get(k[2]),
    "steps": lambda p, s, d, k: collect(s.upsert(k[0]).bin("l").list_append(1).bin("m").on_map_key("a").set_to(7)),
    "transaction": lambda p, s, d, k: in_a_transaction(s, k[0]),
    "transaction that fails": lambda p, s, d, k: left_by_an_error(s, k[0]),
    "info": lambda p, s, d, k: s.info("build"),
    "namespaces": lambda p, s, d, k: names(s),
    "strong consistency": lambda p, s, d, k: s.is_namespace_sc("test"),
}


async def collect(builder):
    return await (await builder.execute()).collect()


async def iterated(builder):
    return await each(await builder.execute())


async def codes(results):
    return [getattr(item, "result_code", None) and item.result_code.name for item in await results]


async def names(session):
    return sorted(await session.info().namespaces())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(address, name):
    theirs, ours = (asyncio.run(of_a_side(package, address, PROGRAMS[name])) for package in (sdk, aerolane))
    assert theirs == ours
