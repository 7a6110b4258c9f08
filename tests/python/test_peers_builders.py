"""What builders do with records, beside aerospike-sdk: verbs, terminals, results, streams, rows, queries, functions."""

import datetime
from datetime import timedelta

import pytest
from sdk_sides import Raised, compare, differ, plain, sides

pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")

MODULE = """
function plus(rec, a, b) return a + (b or 0) end
function read(rec, name) return rec[name] end
function fail(rec) error('boom') end
function nothing(rec) end
function write(rec, v)
  rec.u = v
  if aerospike:exists(rec) then aerospike:update(rec) else aerospike:create(rec) end
  return v
end
"""


@pytest.fixture(scope="module")
def both():
    with sides() as both:
        for side in both:
            side.session.register_udf(MODULE, "sides.lua").wait_till_complete_blocking(0.01, 60)
        yield both


def attempt(call):
    """What a call gives, or the name of what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def bins_of(side, *identifiers):
    return [attempt(lambda i=i: dict(side.session.get(side.dataset.id(i)).bins)) for i in identifiers]


WRITE = ("upsert", "insert", "update", "replace", "replace_if_exists")
VERBS = (*WRITE, "delete", "touch", "exists", "query")
CALLS = {
    "one": lambda side, verb: verb(side.key),
    "a missing one": lambda side, verb: verb(side.dataset.id("missing")),
    "several": lambda side, verb: verb(side.key, side.dataset.id(1)),
    "a list": lambda side, verb: verb([side.key, side.dataset.id(1), side.dataset.id("missing")]),
}


def begun(side, verb, call):
    """A builder that has all that its verb needs; records 1 and 2 are there."""
    for number in (1, 2):
        side.session.put(side.dataset.id(number), {"n": number})
    builder = CALLS[call](side, getattr(side.session, verb))
    return builder.put({"i": 9, "z": None}) if verb in WRITE else builder


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("terminal", ["execute", "stream", "first", "first_or_raise"])
def test_verbs(both, verb, call, terminal):
    def program(side):
        given = getattr(begun(side, verb, call), terminal)()
        if terminal.startswith("first"):
            return given
        # A stream gives what has come.
        return sorted(map(str, map(plain, given))), bins_of(side, 1, "missing")

    compare(both, program)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("how", ["in the stream", "a handler"])
def test_who_hears_of_failures(both, verb, call, how):
    def program(side):
        told = []

        def handler(key, index, error):
            told.append((key.value, index, error.result_code.name))

        on_error = side.package.ErrorStrategy.IN_STREAM if how == "in the stream" else handler
        return begun(side, verb, call).execute(on_error).collect(), told

    compare(both, program)


def now():
    return datetime.datetime.now(datetime.UTC)


EXPIRATIONS = {
    "expire_record_after_seconds": (1000,),
    "expire_record_after": (timedelta(hours=1),),
    "expire_record_at": (lambda: now() + timedelta(seconds=500),),
    "never_expire": (),
    "with_no_change_in_expiration": (),
    "expiry_from_server_default": (),
}


def expiring(builder, name, default):
    arguments = [value() if callable(value) else value for value in EXPIRATIONS[name]]
    return getattr(builder, f"default_{name}" if default else name)(*arguments)


@pytest.mark.parametrize("default", [False, True])
@pytest.mark.parametrize("name", EXPIRATIONS)
@pytest.mark.parametrize("verb", ["upsert", "touch", "rows", "rows before"])
def test_expirations(both, name, default, verb):
    def program(side):
        if verb.startswith("rows"):
            builder = side.session.upsert(side.dataset).bins("i")
            before = verb == "rows before" and default
            builder = (expiring(builder, name, default) if before else builder).row("one", 1)
            builder = builder if before else expiring(builder, name, default)
            builder = builder.row(2, 2)
        else:
            builder = expiring(getattr(side.session, verb)(side.key), name, default)
            builder = builder.put({"i": 1}) if verb == "upsert" else builder
        builder.execute()
        return side.session.get(side.key)

    compare(both, program)


def equal_to(package, value):
    return package.Exp.eq(package.Exp.int_bin("i"), package.Exp.int_val(value))


def one_more(package):
    return package.Exp.num_add([package.Exp.int_bin("i"), package.Exp.int_val(1)])


def native(side):
    name = "aerospike_native" if side.package.__name__ == "aerospike_sdk" else "aerolane.native"
    return pytest.importorskip(name)


CHAINS = {
    "all verbs": lambda s, d, k, p: (
        (s.upsert(d.id(1)).put({"a": 1}).insert(d.id(2)).put({"b": 2}).query(k).bins("i").update(d.id(1)).put({"a": 2}))
        .replace(d.id(3))
        .put({"c": 1})
        .replace_if_exists(d.id(4))
        .put({"c": 1})
        .exists(d.id(9))
    ),
    "the same record": lambda s, d, k, p: s.query(k).bins("i").upsert(k).put({"i": 8}).query(k).bins("i"),
    "steps": lambda s, d, k, p: s.upsert(k).bin("i").add(1).bin("i").get().upsert(d.id(3)).set_to("a", 1).get("a"),
    "a failure": lambda s, d, k, p: s.insert(k).put({"a": 1}).upsert(d.id(1)).put({"a": 1}),
    "shortcuts": lambda s, d, k, p: (
        s.upsert(k).set_to("x", 1).add("i", 2).append("s", "!").prepend("s", "?").get("s").remove_bin("f")
    ),
    "touch in between": lambda s, d, k, p: s.upsert(k).get("i").touch_record(),
    "delete at the end": lambda s, d, k, p: s.upsert(k).get("i").delete_record(),
    "replace only": lambda s, d, k, p: s.replace(d.id("missing")).put({"a": 1}).replace_only(),
    "generation": lambda s, d, k, p: s.update(k).put({"i": 1}).ensure_generation_is(s.get(k).generation),
    "another generation": lambda s, d, k, p: s.update(k).put({"i": 1}).ensure_generation_is(77),
    "of several": lambda s, d, k, p: s.update([k, d.id(1)]).put({"i": 1}).ensure_generation_is(77),
    "true": lambda s, d, k, p: s.update(k).put({"i": 1}).where(equal_to(p, 5)),
    "false": lambda s, d, k, p: s.update(k).put({"i": 1}).where(equal_to(p, 6)),
    "false, fails": lambda s, d, k, p: s.update(k).put({"i": 1}).where(equal_to(p, 6)).fail_on_filtered_out(),
    "false, asked for": lambda s, d, k, p: s.update(k).put({"i": 1}).where(equal_to(p, 6)).include_missing_keys(),
    "text": lambda s, d, k, p: s.update(k).put({"i": 1}).where("$.i == %s", 5),
    "read, true": lambda s, d, k, p: s.query(k).where(equal_to(p, 5)),
    "read, false": lambda s, d, k, p: s.query(k).where(equal_to(p, 6)),
    "read, fails": lambda s, d, k, p: s.query(k).where(equal_to(p, 6)).fail_on_filtered_out(),
    "several read": lambda s, d, k, p: s.query([k, d.id(1)]).where(equal_to(p, 5)),
    "several read, fail": lambda s, d, k, p: s.query([k, d.id(1)]).where(equal_to(p, 5)).fail_on_filtered_out(),
    "missing ones": lambda s, d, k, p: s.query([k, d.id("missing")]).include_missing_keys(),
    "a missing one": lambda s, d, k, p: s.query(d.id("missing")).include_missing_keys(),
    "what exists": lambda s, d, k, p: s.upsert(d.id(2)).put({"a": 1}).exists(k).exists(d.id(1), d.id("missing")),
    "default filter": lambda s, d, k, p: s.query([k]).default_where(equal_to(p, 5)).query(d.id(1)),
    "bins": lambda s, d, k, p: s.query(k).bins("i", "f"),
    "a list of bins": lambda s, d, k, p: s.query(k).bins(["i", "f"]),
    "no bins": lambda s, d, k, p: s.query([k, d.id(1)]).with_no_bins(),
    "native operations": lambda s, d, k, p: (
        s.upsert(k)
        .add_operation(native(Named(p)).ListOperation.append("l", 4, native(Named(p)).ListPolicy()))
        .add_operation(native(Named(p)).Operation.get_bin("i"))
    ),
    "outside of transactions": lambda s, d, k, p: s.upsert(k).put({"i": 3}).with_txn(None),
}


class Named:
    def __init__(self, package):
        self.package = package


@pytest.mark.parametrize("name", CHAINS)
def test_chains(both, name):
    def program(side):
        side.session.put(side.dataset.id(1), {"i": 1, "a": 0})
        builder = CHAINS[name](side.session, side.dataset, side.key, side.package)
        return builder.execute().collect(), bins_of(side, 1, 2, 3, 4)

    compare(both, program)


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("bin_name", ["i", "new"])
@pytest.mark.parametrize("step", ["select_from", "insert_from", "update_from", "upsert_from"])
def test_expressions_as_values(both, step, bin_name, as_text):
    def expression(side):
        return "$.i + 1" if as_text else one_more(side.package)

    compare(
        both, lambda side: getattr(side.session.upsert(side.key), step)(bin_name, expression(side)).execute().collect()
    )
    of_bin = lambda side: getattr(side.session.upsert(side.key).bin(bin_name), step)  # noqa: E731
    compare(both, lambda side: of_bin(side)(expression(side)).execute().collect())


ROWS = {
    "two": lambda b: b.row(1, "x", 2).row(2, "y", None),
    "a list of rows": lambda b: b.rows([(1, "x", 2), (2, "y", 3)]),
    "a generator": lambda b: b.rows((i, "v", i) for i in (1, 2)),
    "a value too few": lambda b: b.row(1, "x"),
    "a value too many": lambda b: b.row(1, "x", 2, 3),
    "none": lambda b: b,
    "an empty list": lambda b: b.rows([]),
    "one": lambda b: b.row(1, "x", 2),
    "a generation": lambda b: b.row(2, "x", 2).ensure_generation_is(9),
    "expirations": lambda b: b.row(1, "x", 2).expire_record_after_seconds(100).row(2, "y", 3).never_expire(),
    "outside of transactions": lambda b: b.with_txn(None).row(1, "x", 2),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("verb", ["upsert", "insert", "update", "replace"])
def test_rows(both, verb, name):
    def program(side):
        side.session.put(side.dataset.id(2), {"q": 1})
        builder = ROWS[name](getattr(side.session, verb)(side.dataset).bins("a", "b"))
        return builder.execute().collect(), bins_of(side, 1, 2)

    compare(both, program)


def described(side):
    """A result of many operations."""
    builder = side.session.upsert(side.key)
    for name in ("i", "f", "s", "b", "l", "m"):
        builder = builder.bin(name).get()
    return builder.bin("h").hll_describe().execute().first()


@pytest.mark.parametrize("kind", ["int", "float", "bool", "string", "bytes", "list", "map"])
def test_results_of_operations(both, kind):
    for place in range(8):
        compare(both, lambda side, n=place: getattr(described(side).typed_operation_result(n), f"get_{kind}")())


OF_RESULTS = {
    "first": lambda side: described(side).operation_result(0),
    "no such": lambda side: described(side).operation_result(99),
    "no such, typed": lambda side: described(side).typed_operation_result(99) is None,
    "hll": lambda side: described(side).get_hll_config("h").index_bit_count,
    "no hll": lambda side: described(side).get_hll_config("zz"),
    "another bin": lambda side: described(side).get_hll_config("i"),
    "exists": lambda side: side.session.exists(side.key).execute().first().as_bool(),
    "missing": lambda side: side.session.exists(side.dataset.id(7)).execute().first().as_bool(),
    "of several": lambda side: [
        r.as_bool() for r in side.session.exists([side.key, side.dataset.id(7)]).include_missing_keys().execute()
    ],
    "or_raise": lambda side: side.session.query(side.key).execute().first().or_raise(),
    "or_raise, a failure": lambda side: failed(side).or_raise(),
    "to_exception": lambda side: type(failed(side).to_exception()).__name__,
    "record_or_raise, a failure": lambda side: failed(side).record_or_raise(),
    "record_or_raise, no record": lambda side: side.session.delete(side.key).execute().first().record_or_raise(),
}


def failed(side):
    builder = side.session.update(side.dataset.id(7)).put({"a": 1})
    return builder.execute(side.package.ErrorStrategy.IN_STREAM).first()


@pytest.mark.parametrize("name", OF_RESULTS)
def test_results(both, name):
    compare(both, OF_RESULTS[name])


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize(
    "method", ["pop", "pop_or_raise", "first", "first_or_raise", "first_udf_result", "collect", "failures"]
)
def test_streams(both, method, count):
    def program(side):
        side.session.put(side.dataset.id(1), {"a": 1})
        keys = [side.dataset.id(7), side.dataset.id(8)] if count == 0 else [side.key, side.dataset.id(1)][:count]
        stream = side.session.query(keys).execute()
        given = getattr(stream, method)()
        return given, list(stream) if method.startswith("pop") and count else None

    compare(both, program)


QUERIES = {
    "all": lambda q, p: q,
    "bins": lambda q, p: q.bins("n"),
    "no bins": lambda q, p: q.with_no_bins(),
    "where": lambda q, p: q.where(p.Exp.ge(p.Exp.int_bin("n"), p.Exp.int_val(15))),
    "a partition": lambda q, p: q.on_partition(100),
    "partitions": lambda q, p: q.on_partition_range(0, 2048),
    "limit": lambda q, p: q.limit(1000),
    "rate": lambda q, p: q.records_per_second(100_000),
    "no index": lambda q, p: q.filter(p.Filter.equal("g", 1)),
    "index": lambda q, p: q.filter(p.Filter.range("n", 3, 6)),
    "duration": lambda q, p: q.with_hint(p.QueryHint(query_duration=p.QueryDuration.SHORT)),
    "operation": lambda q, p: q.bin("n").get(),
    "expression": lambda q, p: q.bin("x").select_from("$.n + 1"),
    "partition that is none": lambda q, p: q.on_partition(5000),
    "limit of none": lambda q, p: q.limit(0),
    "chunks of none": lambda q, p: q.chunk_size(0),
}


@pytest.fixture(scope="module")
def filled(both):
    """Both sides with a set of twenty records, indexed."""
    datasets = []
    for side in both:
        dataset = side.package.DataSet.of("test", f"filled_{side.package.__name__}")
        for n in range(20):
            side.session.put(dataset.id(n), {"n": n, "g": n % 3})
        kind = side.package.IndexType.INTEGER
        task = side.session.create_index(dataset, dataset.set_name, "n", kind)
        task.wait_till_complete_blocking(0.01, 60)
        datasets.append(dataset)
    return dict(zip(both, datasets, strict=True))


@pytest.mark.parametrize("name", QUERIES)
def test_queries(both, filled, name):
    def program(side):
        stream = QUERIES[name](side.session.query(filled[side]), side.package).execute()
        return sorted(str(plain((dict(r.record.bins), r.record.generation, r.index, r.is_ok))) for r in stream)

    if name == "partitions":
        # The keys are others: a set's name is part of the digest.
        assert {len(program(side)) < 20 for side in both} == {True}
    else:
        compare(both, program)


def test_chunks(both, filled):
    def program(side):
        stream = side.session.query(filled[side]).chunk_size(7).execute()
        found = []
        while stream.has_more_chunks():
            chunk = [result.record.bins["n"] for result in stream]
            assert len(chunk) <= 7
            found += chunk
        return sorted(found)

    compare(both, program)


FUNCTIONS = {
    "value": lambda s, k, other: s.execute_udf(k).function("sides", "plus").passing(1, 2),
    "failure": lambda s, k, other: s.execute_udf(k).function("sides", "fail"),
    "nothing": lambda s, k, other: s.execute_udf(k).function("sides", "nothing"),
    "list": lambda s, k, other: s.execute_udf(k).function("sides", "read").passing("l"),
    "map": lambda s, k, other: s.execute_udf(k).function("sides", "read").passing("m"),
    "no such function": lambda s, k, other: s.execute_udf(k).function("sides", "nope"),
    "no such module": lambda s, k, other: s.execute_udf(k).function("nope", "nope"),
    "expiration": lambda s, k, other: (
        s.execute_udf(k).function("sides", "write").passing(3).expire_record_after_seconds(99)
    ),
    "several": lambda s, k, other: s.execute_udf(k, other).function("sides", "write").passing(5),
    "several failures": lambda s, k, other: s.execute_udf(k, other).function("sides", "fail"),
    "chain": lambda s, k, other: s.upsert(other).put({"a": 1}).execute_udf(k).function("sides", "plus").passing(3, 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(both, name):
    def program(side):
        stream = FUNCTIONS[name](side.session, side.key, side.dataset.id("other")).execute()
        # Theirs also has the returned value as a bin, where there are several records.
        return [(r.key.value, r.result_code.name, plain(r.udf_result)) for r in stream], bins_of(side, "other")

    compare(both, program)


WRONG = {
    "no keys": lambda s, d, k, p: s.query([]),
    "no key": lambda s, d, k, p: s.upsert(None),
    "a str for a key": lambda s, d, k, p: s.upsert("x"),
    "a tuple of keys": lambda s, d, k, p: s.query((k, k)).execute().collect(),
    "a name that is no str": lambda s, d, k, p: s.upsert(k).put({1: 2}).execute(),
    "an empty name": lambda s, d, k, p: s.upsert(k).put({"": 2}).execute(),
    "an object as a value": lambda s, d, k, p: s.upsert(k).put({"a": object()}).execute(),
    "a set as a value": lambda s, d, k, p: s.upsert(k).put({"a": {1, 2}}).execute(),
    "a tuple as a value": lambda s, d, k, p: s.upsert(k).put({"a": (1, 2)}).execute().collect(),
    "two filters": lambda s, d, k, p: s.query(k).where("$.i == 5").where("$.i == 6"),
    "a step that is none": lambda s, d, k, p: s.query(k).bin("i").nope(),
    "a write in a query": lambda s, d, k, p: s.query(k).put({}),
    "a hint without an index": lambda s, d, k, p: p.QueryHint(hard_hint=True),
    "no bins to read": lambda s, d, k, p: s.query(k).bins(),
    "no bins and some": lambda s, d, k, p: s.query(k).with_no_bins().bins("i"),
    "a step of another type": lambda s, d, k, p: s.query(k).bin("i").list_size().execute(),
    "a str to an int": lambda s, d, k, p: s.upsert(k).bin("i").append("x").execute(),
    "an index out of bounds": lambda s, d, k, p: s.query(k).bin("l").list_get(99).execute().collect(),
    "a namespace that is none": lambda s, d, k, p: s.query(p.DataSet.of("nope", "x").id(1)).execute(),
    "a write to one": lambda s, d, k, p: s.upsert(p.DataSet.of("nope", "x").id(1)).put({"a": 1}).execute(),
    "a read of one": lambda s, d, k, p: s.get(p.DataSet.of("nope", "x").id(1)),
    "a missing record": lambda s, d, k, p: s.get(d.id("missing")),
    "an expression that fails": lambda s, d, k, p: s.query(k).bin("x").select_from("$.nope:INT + 1").execute(),
    "a negative generation": lambda s, d, k, p: s.update(k).put({"i": 1}).ensure_generation_is(0),
    "rows of a verb without": lambda s, d, k, p: s.delete(d),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(both, name):
    """The same of Python's exceptions, and of the SDK's."""
    compare(both, lambda side: WRONG[name](side.session, side.dataset, side.key, side.package))


# What differs on purpose, each in docs/differences.md.
DIFFERENT = {
    "bins of a plain write": lambda s, d, k, p: list(s.upsert(k).put({"i": 1}).execute().first().record.bins),
    "index of one": lambda s, d, k, p: s.query(k).execute().first().index,
    "a second terminal": lambda s, d, k, p: execute_twice(s.query(k)),
    "a stream read twice": lambda s, d, k, p: read_twice(s.query(k).execute()),
    "bins and a step": lambda s, d, k, p: s.query(k).bins("i").bin("l").list_size().execute().collect(),
    "bins twice": lambda s, d, k, p: s.query(k).bins("i").bins("f").execute().collect(),
    "projection of one record": lambda s, d, k, p: (
        s.query(k).with_op_projection(native(Named(p)).ListOperation.size("l")).execute().collect()
    ),
    "an index for keys": lambda s, d, k, p: s.query(k).filter(p.Filter.equal("i", 5)).execute().collect(),
    "chunks of keys": lambda s, d, k, p: s.query(k).chunk_size(3) and None,
    "no time to live": lambda s, d, k, p: s.touch(k).expire_record_after(timedelta(0)).execute().collect(),
    "a name that is too long": lambda s, d, k, p: s.upsert(k).put({"x" * 16: 2}).execute(),
    "a namespace that is none": lambda s, d, k, p: s.is_namespace_sc("nope"),
    "a set without a name": lambda s, d, k, p: p.DataSet.of("test").set_name,
    "nothing to write": lambda s, d, k, p: s.upsert(k).execute(),
    "no bins to write": lambda s, d, k, p: s.upsert(k).put({}).execute(),
    "several keys for a function": lambda s, d, k, p: (
        s.execute_udf([k, d.id(1)]).function("sides", "plus").passing(1, 2).execute().collect()
    ),
}


RAISES_THERE = {"a name that is too long", "nothing to write", "no bins to write", "several keys for a function"}
RAISES_HERE = RAISES_THERE - {"several keys for a function"} | {
    *("a second terminal", "a stream read twice", "bins and a step", "bins twice", "an index for keys"),
    *("chunks of keys", "no time to live", "a namespace that is none"),
}


def execute_twice(builder):
    builder.execute()
    builder.execute()


def read_twice(stream):
    return len(list(stream)), len(list(stream))


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs(both, name):
    theirs, ours = differ(both, lambda side: DIFFERENT[name](side.session, side.dataset, side.key, side.package))
    assert isinstance(theirs, Raised) == (name in RAISES_THERE)
    assert isinstance(ours, Raised) == (name in RAISES_HERE)
