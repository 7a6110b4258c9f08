"""The index that serves a text in the Aerospike Expression Language, of those that a caller names."""

import pytest
from conftest import eventually

from aerolane import AelParseException, InvalidArgumentError, native, parse_ael, parse_ael_with_index
from aerolane.ael import Index, IndexContext
from aerolane.native import CTX, CollectionIndexType, Filter, IndexType, QueryPolicy, Statement

AGE = Index("age", IndexType.NUMERIC, "test", "age_idx")
CITY = Index("city", IndexType.STRING, "test", "city_idx", 0.5)
TAGS = Index("tags", IndexType.STRING, collection_index_type=CollectionIndexType.LIST)
DEEP = Index("deep", IndexType.INTEGER, ctx=[CTX.map_key("k"), CTX.list_index(0)])
INDEXES = IndexContext.of("test", [AGE, CITY, TAGS, DEEP])


@pytest.mark.parametrize(
    ("text", "filter_", "rest"),
    [
        ("$.age > 21", Filter.range("age", 22, 2**63 - 1), None),
        ("$.age >= 18 and $.x == 1 and $.age < 65", Filter.range("age", 18, 64), "$.x == 1"),
        ("$.age > 21 and $.city == 'Rome'", Filter.equal("city", "Rome"), "$.age > 21"),
        ("'a' in $.tags", Filter.contains("tags", "a", CollectionIndexType.LIST), None),
        ("$.deep.k.[0] == 5", Filter.range("deep", 5, 5).context([CTX.map_key("k"), CTX.list_index(0)]), None),
        ("$.age == 1 or $.city == 'x'", None, "$.age == 1 or $.city == 'x'"),
        ("$.x == 1", None, "$.x == 1"),
    ],
)
def test_an_index_is_chosen(text, filter_, rest):
    result = parse_ael_with_index(text, INDEXES)
    assert result.filter == filter_
    assert result.exp == (None if rest is None else parse_ael(rest))
    assert result.explain().startswith("reads the whole set" if filter_ is None else "reads by index")


def test_hints_namespaces_and_sets():
    text = "$.age > ?0 and $.city == ?1"
    hinted = parse_ael_with_index(text, INDEXES, (21, "Rome"), hint_index_name="age_idx")
    assert hinted.filter == Filter.range_by_index("age_idx", 22, 2**63 - 1)
    assert hinted.exp == parse_ael("$.city == 'Rome'")
    assert parse_ael_with_index(text, INDEXES, (21, "Rome"), hint_bin_name="age").filter == Filter.range(
        "age", 22, 2**63 - 1
    )
    assert parse_ael_with_index("$.age > 1", IndexContext("other", [AGE])).filter is None
    of_set = Index("age", IndexType.NUMERIC, set_name="users")
    assert parse_ael_with_index("$.age > 1", IndexContext.with_query_set("test", "users", [of_set])).filter is not None
    assert parse_ael_with_index("$.age > 1", IndexContext.with_query_set("test", "items", [of_set])).filter is None
    assert parse_ael_with_index("$.age > 1").filter is None
    with pytest.raises(AelParseException):
        parse_ael_with_index("$.age + 1", INDEXES)
    with pytest.raises(InvalidArgumentError):
        Index("age", IndexType.NUMERIC, bin_values_ratio=-1.0)
    with pytest.raises(TypeError):
        Index("age", "NUMERIC")
    assert (AGE.bin, AGE.index_type, AGE.name, AGE.namespace, AGE.ctx) == (
        "age",
        IndexType.NUMERIC,
        "age_idx",
        "test",
        None,
    )


def test_a_query_by_index_finds_what_the_text_says(client, set_name):
    index = f"{set_name}_age"
    task = client.create_index_blocking("test", set_name, "age", index, IndexType.NUMERIC)
    task.wait_till_complete_blocking(0.02, 30)
    for number in range(40):
        bins = {"age": number, "city": "Rome" if number % 3 else "Oslo"}
        client.put_blocking(native.Key("test", set_name, number), bins)
    text = "$.age >= 10 and $.age < 20 and $.city == 'Rome'"
    result = parse_ael_with_index(text, IndexContext.of("test", [Index("age", IndexType.NUMERIC, "test", index)]))
    assert result.exp == parse_ael("$.city == 'Rome'")

    def found():
        statement = Statement("test", set_name)
        statement.filters = [result.filter]
        policy = QueryPolicy(filter_expression=result.exp)
        return sorted(record.bins["age"] for record in client.query_blocking(statement, policy=policy))

    eventually(lambda: found() == [number for number in range(10, 20) if number % 3])
