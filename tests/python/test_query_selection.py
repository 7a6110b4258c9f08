"""Queries of data sets with a text: the secondary index that serves it, hints, and `explain()`."""

import pickle
import time

import pytest
from conftest import Either

import aerolane
from aerolane import Behavior, DataSet, Exp, Filter, QueryDuration, QueryHint, native
from aerolane.exceptions import AerospikeError, InvalidArgumentError
from aerolane.native import CTX, CollectionIndexType, IndexType
from aerolane.policy import Settings
from aerolane.testing import EmbeddedCluster

SOME = 100


@pytest.fixture(scope="module")
def indexed():
    """A cluster of its own: a set whose bins have indexes, and one without."""
    with EmbeddedCluster(nodes=3) as cluster:
        client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
        for number in range(SOME):
            bins = {
                "n": number,
                "f": number % 7,
                "s": f"s{number % 5}",
                "b": bytes([number % 3]),
                "l": [number % 11, number % 13],
                "m": {"k": number % 4, f"x{number % 6}": 1},
                "p": native.GeoJSON(f'{{"type": "Point", "coordinates": [{number % 20}, 1]}}'),
            }
            for name in ("people", "bare"):
                client.put_blocking(aerolane.Key("test", name, number), bins)
        for name, bin_name, kind, collection, ctx in (
            ("n_idx", "n", IndexType.NUMERIC, None, None),
            ("f_idx", "f", IndexType.NUMERIC, None, None),
            ("s_idx", "s", IndexType.STRING, None, None),
            ("b_idx", "b", IndexType.BLOB, None, None),
            ("l_idx", "l", IndexType.NUMERIC, CollectionIndexType.LIST, None),
            ("m_idx", "m", IndexType.STRING, CollectionIndexType.MAP_KEYS, None),
            ("mk_idx", "m", IndexType.NUMERIC, None, [CTX.map_key("k")]),
            ("p_idx", "p", IndexType.GEO2D_SPHERE, None, None),
        ):
            task = client.create_index_blocking("test", "people", bin_name, name, kind, collection, ctx)
            assert task.wait_till_complete_blocking(0.02, 100)
        task = client.create_index_blocking("test", "", "n", "all_idx", IndexType.NUMERIC)
        assert task.wait_till_complete_blocking(0.02, 100)
        yield cluster
        client.close_blocking()


@pytest.fixture(params=["sync", "async"])
def either(request, indexed):
    one = Either(request.param, indexed.seeds)
    yield one
    one.close()


@pytest.fixture
def people():
    return DataSet.of("test", "people")


@pytest.fixture
def bare():
    return DataSet.of("test", "bare")


def found(either, builder):
    return sorted(result.record.bins["n"] for result in either.results(builder))


REGION = '{"type": "Polygon", "coordinates": [[[-1, 0], [5.5, 0], [5.5, 2], [-1, 2], [-1, 0]]]}'
# A text, its parameters, the index that serves it, and whether the index answers all of it.
TEXTS = [
    ("$.n > 50", (), "n_idx", True),
    ("$.n > ?0 and $.n <= ?1", (10, 20), "n_idx", True),
    ("$.n == 7", (), "n_idx", True),
    ("$.n > 10 and $.f == 3", (), "f_idx", False),
    ("$.s == 's3'", (), "s_idx", True),
    ("$.s == %s", ("s'3",), "s_idx", True),
    ("$.b == x'01'", (), "b_idx", True),
    ("5 in $.l", (), "l_idx", True),
    ("$.m.x2.exists()", (), "m_idx", True),
    ("$.m.k == 3", (), "mk_idx", True),
    ("$.n > 3 and ($.f == 1 or $.s == 's1')", (), "n_idx", False),
    ("$.n >= 0 and $.s != 's0'", (), "n_idx", False),
    ("geoCompare($.p, ?0)", (native.GeoJSON(REGION),), "p_idx", False),
    ("$.n < 5 or $.f == 1", (), None, False),
    ("$.n + 1 == 5", (), None, False),
    ("not ($.n == 5)", (), None, False),
    ("$.n > 5 and $.n < 3", (), None, False),
]


@pytest.mark.parametrize(("text", "params", "index", "whole"), TEXTS, ids=[text for text, *_ in TEXTS])
def test_the_index_finds_what_the_text_says(either, people, bare, text, params, index, whole):
    session = either.session

    def query(dataset):
        return session.query(dataset).where(text, *params)

    try:
        explained = either.run(query(people).explain())
    except aerolane.AelParseException as error:
        pytest.skip(f"not of the language: {error}")
    assert explained.index_name == index, str(explained)
    assert explained.uses_index is (index is not None)
    assert (explained.filter is None) is (index is None)
    assert (explained.expression is None) is whole
    assert explained.refusal is None
    assert (index or "reads the whole set") in str(explained)
    assert (repr(index) if index else "all records") in repr(explained)
    # What the set without indexes says.
    expected = found(either, query(bare))
    assert not either.run(query(bare).explain()).uses_index
    assert found(either, query(people)) == expected
    assert either.run(query(people).first()) is None or expected
    chunks, results = [], either.run(query(people).chunk_size(7).execute())
    while either.run(results.has_more_chunks()):
        chunks += [result.record.bins["n"] for result in either.each(results)]
    assert sorted(chunks) == expected
    assert len(found(either, query(people).limit(2))) == min(2, len(expected))


def test_the_server_reads_the_index(either, people):
    """Not the set: a record whose bin has another type than the index is none of it, and none of the filter either."""
    explained = either.run(either.session.query(people).where("$.n == 7").explain())
    assert explained.filter == Filter.equal("n", 7)
    assert explained.expression is None
    explained = either.run(either.session.query(people).where("$.n > 7 and $.f != 1").explain())
    assert explained.expression == aerolane.parse_ael("$.f != 1")
    assert found(either, either.session.query(people).filter(explained.filter).where(explained.expression)) == [
        n for n in range(8, SOME) if n % 7 != 1
    ]


def test_an_index_of_all_sets_serves_queries_of_all_sets(either, people):
    everything = DataSet.of("test")
    explained = either.run(either.session.query(everything).where("$.n == 7").explain())
    assert explained.index_name == "all_idx"
    assert found(either, either.session.query(everything).where("$.n == 7")) == [7, 7]


def test_steps_and_projections(either, people):
    query = either.session.query(people).where("$.n == 7").bins("s")
    assert [result.record.bins for result in either.results(query)] == [{"s": "s2"}]
    query = either.session.query(people).where("$.n == 7").with_no_bins()
    assert [result.record.bins for result in either.results(query)] == [{}]
    query = either.session.query(people).where("$.n == 7").bin("s").get()
    assert [result.record.bins for result in either.results(query)] == [{"s": "s2"}]
    query = either.session.query(people).where("$.n >= 0").on_partition_range(0, 2048)
    other = either.session.query(people).where("$.n >= 0").on_partition_range(2048, 4096)
    assert sorted(found(either, query) + found(either, other)) == list(range(SOME))
    assert len(either.each(either.run(either.session.query(people).where("$.n == 7").stream()))) == 1


def test_what_explain_says_of_other_queries(either, people):
    session = either.session
    explained = either.run(session.query(people).explain())
    assert str(explained) == "reads the whole set\nfilters what it reads by nothing"
    assert (explained.filter, explained.expression, explained.index_name) == (None, None, None)
    filtered = session.query(people).filter(Filter.equal("n", 1)).where("$.f == 1")
    explained = either.run(filtered.explain())
    assert explained.uses_index and explained.index_name is None
    assert "filter()" in str(explained) and "a secondary index" in repr(explained)
    explained = either.run(session.query(people).where(Exp.eq(Exp.int_bin("n"), Exp.int_val(1))).explain())
    assert explained.expression == Exp.eq(Exp.int_bin("n"), Exp.int_val(1)) and not explained.uses_index
    with pytest.raises(InvalidArgumentError, match="data set"):
        either.run(session.query(people.id(1)).explain())
    # The builder stays as it is, until it is carried out.
    assert found(either, filtered) == [1]
    with pytest.raises(AerospikeError, match="executed"):
        either.run(filtered.explain())


# Hints.


def test_a_hint_is_preferred(either, people):
    text = "$.n > 10 and $.f == 3"

    def explained(**hint):
        return either.run(either.session.query(people).where(text).with_hint(QueryHint(**hint)).explain())

    expected = [n for n in range(11, SOME) if n % 7 == 3]
    for name in ("n_idx", "f_idx"):
        for hard in (False, True):
            choice = explained(index_name=name, hard_hint=hard)
            assert choice.index_name == name
            hint = QueryHint(index_name=name, hard_hint=hard)
            assert found(either, either.session.query(people).where(text).with_hint(hint)) == expected
    # One that does not serve the text changes nothing, unless it is hard.
    for name in ("s_idx", "nothing", "all_idx"):
        assert explained(index_name=name).index_name == "f_idx"
        hard = QueryHint(index_name=name, hard_hint=True)
        refused = explained(index_name=name, hard_hint=True).refusal
        assert name in refused
        for terminal in ("execute", "first", "first_or_raise", "stream"):
            with pytest.raises(InvalidArgumentError, match=name):
                either.run(getattr(either.session.query(people).where(text).with_hint(hard), terminal)())


def test_hints_on_the_duration_change_no_results(either, people):
    for duration in (QueryDuration.SHORT, QueryDuration.LONG, None):
        hint = QueryHint(query_duration=duration)
        assert found(either, either.session.query(people).where("$.n < 3").with_hint(hint)) == [0, 1, 2]


def test_scans_can_be_refused(either, people, bare):
    session, no_scans = either.session, QueryHint(allow_scans_with_where=False)
    assert found(either, session.query(people).where("$.n < 3").with_hint(no_scans)) == [0, 1, 2]
    for dataset, text in ((bare, "$.n < 3"), (people, "$.n + 1 == 3")):
        with pytest.raises(InvalidArgumentError, match="allow_scans_with_where"):
            either.run(session.query(dataset).where(text).with_hint(no_scans).execute())
        explained = either.run(session.query(dataset).where(text).with_hint(no_scans).explain())
        assert "allow_scans" in explained.refusal and "is not carried out" in str(explained)
    # Without a text there is nothing that an index could serve.
    assert len(either.results(session.query(bare).with_hint(no_scans))) == SOME
    assert session.query(people).effective_allow_scans_with_where() is True
    assert session.query(people).with_hint(no_scans).effective_allow_scans_with_where() is False
    assert session.query(people).with_hint(QueryHint()).effective_allow_scans_with_where() is True
    assert session.query(people.id(1)).effective_allow_scans_with_where() is True


def test_scans_can_be_refused_by_a_behavior(either, people, bare):
    behavior = Behavior.DEFAULT.derive_with_changes(
        f"no-scans-{either.kind}", reads_query=Settings(allow_scans_with_where=False)
    )
    session = either.session.session_for(behavior)
    assert session.query(bare).effective_allow_scans_with_where() is False
    assert found(either, session.query(people).where("$.n < 3")) == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match="allow_scans_with_where"):
        either.run(session.query(bare).where("$.n < 3").execute())
    allowed = session.query(bare).where("$.n < 3").with_hint(QueryHint(allow_scans_with_where=True))
    assert found(either, allowed) == [0, 1, 2]


def test_hints_that_contradict(either, people):
    session, hard = either.session, QueryHint(index_name="n_idx", hard_hint=True)
    with pytest.raises(InvalidArgumentError, match="filter"):
        either.run(session.query(people).filter(Filter.equal("n", 1)).with_hint(hard).execute())
    for query in (session.query(people), session.query(people).where(Exp.gt(Exp.int_bin("n"), Exp.int_val(1)))):
        with pytest.raises(InvalidArgumentError, match="text"):
            either.run(query.with_hint(hard).execute())
    with pytest.raises(InvalidArgumentError, match="once"):
        session.query(people).with_hint(hard).with_hint(hard)
    with pytest.raises(InvalidArgumentError, match="data set"):
        session.query(people.id(1)).with_hint(hard)
    for wrong in (None, "n_idx"):
        with pytest.raises(TypeError):
            session.query(people).with_hint(wrong)


def test_the_class_of_hints():
    hint = QueryHint(index_name="a", query_duration=QueryDuration.SHORT, allow_scans_with_where=False, hard_hint=True)
    assert (hint.index_name, hint.query_duration) == ("a", QueryDuration.SHORT)
    assert (hint.allow_scans_with_where, hint.hard_hint) == (False, True)
    none = QueryHint()
    assert (none.index_name, none.query_duration, none.allow_scans_with_where, none.hard_hint) == (None,) * 3 + (False,)
    same = QueryHint(index_name="a", query_duration=QueryDuration.SHORT, allow_scans_with_where=False, hard_hint=True)
    assert hint == same and hash(hint) == hash(same) and hint != none
    assert repr(none) == (
        "QueryHint(index_name=None, query_duration=None, allow_scans_with_where=None, hard_hint=False)"
    )
    assert "index_name='a'" in repr(hint) and "SHORT" in repr(hint)
    with pytest.raises(AttributeError):
        hint.index_name = "b"
    for wrong in (
        {"index_name": 5},
        {"query_duration": 7},
        {"allow_scans_with_where": "x"},
        {"allow_scans_with_where": 1},
        {"other": 1},
    ):
        with pytest.raises(TypeError):
            QueryHint(**wrong)
    with pytest.raises(TypeError):
        QueryHint("a")
    for wrong in ({"hard_hint": True}, {"index_name": ""}, {"index_name": "x" * 256}):
        with pytest.raises(ValueError, match="index_name"):
            QueryHint(**wrong)
    assert pickle.loads(pickle.dumps(hint)) == hint


# The list of indexes.


def test_the_list_is_not_asked_for_by_each_query(either, people, indexed):
    def query():
        return either.session.query(people).where("$.n == 7")

    def five():
        """Whether five queries in a row wait for no list. A machine may stand still for longer than it is fresh."""
        assert found(either, query()) == [7]
        with indexed.inject("answer-delay", 1.0, on="info"):
            begun = time.monotonic()
            for _ in range(5):
                assert found(either, query()) == [7]
            return time.monotonic() - begun < 0.9

    assert any(five() for _ in range(4))


def test_indexes_that_come_and_go(either, indexed):
    session, dataset = either.session, DataSet.of("test", f"moving-{either.kind}")
    other = native.new_client_blocking(native.ClientPolicy(), indexed.seeds)
    for number in range(10):
        other.put_blocking(dataset.id(number), {"n": number})

    def uses_index():
        return either.run(session.query(dataset).where("$.n < 3").explain()).uses_index

    assert not uses_index()
    # This client's own changes count at once, those of others after a while.
    name = f"moving_{either.kind}"
    client = either.client.native
    client.create_index_blocking("test", dataset.set_name, "n", name, IndexType.NUMERIC).wait_till_complete_blocking(
        0.02, 100
    )
    wait_for(uses_index)
    assert found(either, session.query(dataset).where("$.n < 3")) == [0, 1, 2]
    client.drop_index_blocking("test", dataset.set_name, name).wait_till_complete_blocking(0.02, 100)
    assert not uses_index()
    assert found(either, session.query(dataset).where("$.n < 3")) == [0, 1, 2]
    other.create_index_blocking("test", dataset.set_name, "n", name, IndexType.NUMERIC).wait_till_complete_blocking(
        0.02, 100
    )
    wait_for(uses_index)
    other.close_blocking()


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_closed_client(either, people):
    either.run(either.client.close())
    for call in ("explain", "execute"):
        with pytest.raises(AerospikeError, match="closed"):
            either.run(getattr(either.session.query(people).where("$.n < 3"), call)())
