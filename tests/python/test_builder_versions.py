"""Builders refuse, at the call, what the oldest node of the cluster does not have, and name the version that does."""

import pytest
from conftest import Either

from aerolane import AelParseException, DataSet, InvalidArgumentError, Key
from aerolane.native import CollectionIndexType, ExpType, ListOrderType, LoopVarPart, MapOrder
from aerolane.native import FilterExpression as Exp
from aerolane.testing import EmbeddedCluster

KEY = Key("test", "versions", 1)
LARGE = Exp.gt(Exp.int_loop_var(LoopVarPart.VALUE), Exp.int_val(1))


def read(session):
    return session.query(KEY).bin("b")


def write(session):
    return session.upsert(KEY).bin("b")


# A build that is a little too old, the version that is needed, the step's name, and the step.
STEPS = [
    ("5.5.0.9", "5.6", "select_from", lambda session: read(session).select_from("$.a:INT")),
    ("5.5.0.9", "5.6", "select_from", lambda session: session.upsert(KEY).select_from("b", "$.a:INT")),
    ("5.5.0.9", "5.6", "insert_from", lambda session: write(session).insert_from("$.a:INT")),
    ("5.5.0.9", "5.6", "update_from", lambda session: write(session).update_from(Exp.int_val(1))),
    ("5.5.0.9", "5.6", "upsert_from", lambda session: session.upsert(KEY).upsert_from("b", "$.a:INT")),
    ("6.0.0.9", "6.1", "exists", lambda session: read(session).on_map_key("k").exists()),
    (
        "6.4.0.9",
        "7.0",
        "persist_index",
        lambda session: write(session).map_upsert_items({1: 2}, order=MapOrder.KEY_ORDERED, persist_index=True),
    ),
    (
        "6.4.0.9",
        "7.0",
        "persist_index",
        lambda session: write(session).list_create(ListOrderType.ORDERED, persist_index=True),
    ),
    ("8.1.0.9", "8.1.1", "on_each_child", lambda session: read(session).on_each_child()),
    ("8.1.0.9", "8.1.1", "on_each_child_where", lambda session: write(session).on_each_child_where(LARGE)),
    ("8.1.0.9", "8.1.1", "on_each_child", lambda session: read(session).on_map_key("k").on_each_child()),
    ("8.1.1.9", "8.1.2", "on_map_keys_in", lambda session: read(session).on_map_keys_in(["a"])),
    ("8.1.1.9", "8.1.2", "on_map_keys_in", lambda session: read(session).on_each_child().on_map_keys_in(["a"])),
    ("8.1.1.9", "8.1.2", "and_filter", lambda session: write(session).on_map_key("k").and_filter(LARGE)),
    ("8.1.1.9", "8.1.2", "and_filter", lambda session: read(session).on_each_child().on_map_key("k").and_filter(LARGE)),
    ("8.1.2.0", "8.2", "read_as_string", lambda session: read(session).read_as_string()),
    ("8.1.2.0", "8.2", "str_strlen", lambda session: read(session).str_strlen()),
    ("8.1.2.0", "8.2", "str_append", lambda session: write(session).str_append("x")),
    ("8.1.2.0", "8.2", "str_upper", lambda session: write(session).on_map_key("k").str_upper()),
    ("8.1.2.0", "8.2", "list_join", lambda session: read(session).list_join()),
    ("8.1.2.0", "8.2", "bit_b64_encode", lambda session: read(session).bit_b64_encode()),
    ("8.1.2.0", "8.2", "str_strlen", lambda session: session.query(DataSet("test", "s")).bin("b").str_strlen()),
]
# The same for texts, with the place of what is refused.
TEXTS = [
    ("6.4.0.9", "7.0", "$.m:KEY_ORDERED:PERSIST_INDEX.k.setTo(1)", 17),
    ("8.1.0.9", "8.1.1", "$.l:LIST.*.modify(@:INT + 1)", 1),
    ("8.1.0.9", "8.1.1", "$.l.[1:3]&[?(@ > 1)].count()", 1),
    ("8.1.1.9", "8.1.2", "$.m.{@a,b}&[?(@ > 1)]", 5),
    ("8.1.2.0", "8.2", "$.n:INT + 1 == 2 and $.s.lower() == 'a'", 22),
]


@pytest.fixture(scope="module")
def clusters():
    started = {}

    def of(build):
        if build not in started:
            started[build] = EmbeddedCluster(nodes=1, build=build)
        return started[build].seeds

    yield of
    for cluster in started.values():
        cluster.close()


@pytest.fixture(params=["sync", "async"])
def connected(request, clusters):
    opened = []

    def to(build):
        opened.append(Either(request.param, clusters(build)))
        return opened[-1].session

    yield to
    for one in opened:
        one.close()


@pytest.mark.parametrize(("build", "needs", "step", "told"), STEPS)
def test_a_step_needs_a_server(connected, build, needs, step, told):
    session = connected(build)
    with pytest.raises(InvalidArgumentError) as caught:
        told(session)
    name = step if step == "persist_index" else f"{step}()"
    assert f"{name} needs server {needs} or later, and the oldest node of the cluster is {build[:5]}".removesuffix(
        ".0"
    ) in str(caught.value)
    # That server has it.
    told(connected((needs + ".0.0")[:7]))


@pytest.mark.parametrize(("build", "needs", "text", "column"), TEXTS)
def test_a_text_in_a_step_needs_a_server(connected, build, needs, text, column):
    session = connected(build)
    newer = connected((needs + ".0.0")[:7])
    for told in (
        lambda session: read(session).select_from(text),
        lambda session: session.upsert(KEY).select_from("b", text),
        lambda session: write(session).upsert_from(text),
        lambda session: session.upsert(KEY).insert_from("b", text),
    ):
        with pytest.raises(AelParseException) as caught:
            told(session)
        error = caught.value
        assert (error.kind, error.needs, error.column) == ("version", needs, column)
        assert f"this one is {build[:5].removesuffix('.0')}" in str(error) and "^" in str(error)
        told(newer)


def test_other_steps_are_for_all_servers(connected):
    session = connected("5.5.0.9")
    write(session).map_upsert_items({1: 2}).bin("b").list_append(1).bin("b").on_map_key("k").set_to(1)
    read(session).on_list_index(0).get_values()
    read(connected("8.1.1.0")).on_each_child().collect_values_as_expression_read(ExpType.LIST)


def test_builds_that_are_none():
    for build in ("", "8", "8.1.2", "8.1.2.0.1", "8.1.2.x", "8.1.2.0\n", "99999.1.1.1"):
        with pytest.raises(ValueError, match="four numbers"):
            EmbeddedCluster(nodes=1, build=build)


@pytest.fixture(params=["sync", "async"])
def either_on(request, clusters):
    """`either_on(build)`: sessions of one kind, on a cluster of this build."""
    opened = []

    def to(build):
        opened.append(Either(request.param, clusters(build)))
        return opened[-1]

    yield to
    for one in opened:
        one.close()


@pytest.mark.parametrize(("build", "known"), [("8.1.2.0", False), ("8.2.0.0", True)])
def test_indexes_on_integers(either_on, build, known):
    """From 8.2 on their type is `integer`, and lists of indexes say so, too."""
    either, dataset = either_on(build), DataSet("test", "integers")
    session, run = either.session, either.run
    run(session.upsert(dataset.ids(*range(4))).put({"n": 1, "l": [5]}).execute())
    run(session.upsert(dataset.id(9)).put({"n": 2, "l": [6]}).execute())
    run(session.index(dataset).on_bin("n").named("by_n").integer().create()).wait_till_complete_blocking(0.02)
    items = session.index(dataset).on_bin("l").named("by_l").numeric().collection(CollectionIndexType.LIST)
    run(items.create()).wait_till_complete_blocking(0.02)
    try:
        listed = run(session.info("sindex-list"))["sindex-list"]
        assert (":type=integer:" in listed, ":type=numeric:" in listed) == (known, not known)
        kinds = {index["name"]: index["type"] for index in run(session.list_indexes())}
        assert kinds == {"by_n": "integer", "by_l": "integer"}
        # The text of a query finds them by their definition.
        for text, index in (("$.n:INT == 2", "by_n"), ("5 in $.l", "by_l")):
            assert run(session.query(dataset).where(text).explain()).index_name == index
        assert [result.record.bins["n"] for result in either.results(session.query(dataset).where("$.n == 2"))] == [2]
    finally:
        for name in ("by_n", "by_l"):
            run(session.drop_index(dataset, name)).wait_till_complete_blocking(0.02)
