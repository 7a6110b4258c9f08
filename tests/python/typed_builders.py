"""What type checkers see of builders. Checked by mypy and pyright, and run by `test_builders.py`."""

from typing import assert_type

from aerolane import (
    CdtWriteBuilder,
    DataSet,
    ErrorStrategy,
    Exp,
    Key,
    QueryBuilder,
    Record,
    RecordResult,
    RecordStream,
    Session,
    SyncClient,
    TxnStatus,
    WriteSegmentBuilder,
    sync,
)
from aerolane.exceptions import AerospikeError
from aerolane.info_types import NamespaceDetail, SetDetail
from aerolane.native import ExecuteTask, IndexTask


def heard(key: Key, index: int, error: AerospikeError) -> None:
    print(key, index, error)


def blocking(session: sync.Session, users: DataSet) -> None:
    key = users.id(1)
    assert_type(session.upsert(key), sync.WriteSegmentBuilder)
    assert_type(session.upsert(key).put({"a": 1}).bin("b").list_append(1), sync.WriteSegmentBuilder)
    assert_type(session.upsert(key).bin("m").on_map_key("x"), CdtWriteBuilder[sync.WriteSegmentBuilder])
    stream = session.upsert(key).put({"a": 1}).bin("m").on_map_key("x").set_to(1).execute(on_error=heard)
    assert_type(stream, sync.RecordStream)
    assert_type(session.query(users.ids(1, 2)).bins("a", "b").query(key), sync.QueryBuilder)
    assert_type(session.query(key).bin("a").get().upsert(key), sync.WriteSegmentBuilder)
    assert_type(session.query(users).where(Exp.bool_val(True)).first(), RecordResult | None)
    assert_type(session.query(key).bin("c").select_from("$.a:INT + 1").where(expression="$.a > 0"), sync.QueryBuilder)
    # The names of the first versions of the SDK.
    assert_type(session.upsert(key).set_bins({"a": 1}).respond_all_keys(), sync.WriteSegmentBuilder)
    assert_type(session.query(users).max_records(5).on_partitions(1, 2), sync.QueryBuilder)
    assert_type(session.index(users.namespace, users.set_name or "").numeric(), sync.IndexBuilder)
    assert_type(session.upsert(users).bins("a").row(1, 2).rows([(2, 3)]).execute(), sync.RecordStream)
    for result in session.query(key).execute(ErrorStrategy.IN_STREAM):
        assert_type(result.record, Record | None)
        print(result.key.value)
    tasks = session.background_task()
    assert_type(tasks.update(users).where("$.a > 1").bin("b").set_to(1), sync.BackgroundOperationBuilder)
    assert_type(tasks.delete(users).records_per_second(0).execute(), ExecuteTask)
    assert_type(session.index(users).on_bin("a").integer().named("typed"), sync.IndexBuilder)
    assert_type(session.info(), sync.InfoCommands)
    assert_type(session.info("build"), dict[str, str])
    assert_type(session.info().namespace_details("test"), NamespaceDetail | None)
    assert_type(session.list_udf(), list[dict[str, str]])


async def awaiting(session: Session, users: DataSet) -> None:
    key = users.id(1)
    assert_type(session.upsert(key).never_expire(), WriteSegmentBuilder)
    assert_type(session.query(users).limit(3), QueryBuilder)
    assert_type(await session.upsert(key).put({"a": 1}).execute(), RecordStream)
    assert_type(await session.query(key).first_or_raise(), RecordResult)
    async for result in await session.query(key).execute():
        assert_type(result, RecordResult)
    async with session.transaction() as tx:
        assert_type(await tx.commit(), TxnStatus)
    assert_type(await session.background_task().touch(users).never_expire().execute(), ExecuteTask)
    assert_type(await session.index(users).on_set().named("typed").create(), IndexTask)
    assert_type(await session.info().sets(), list[SetDetail])
    assert_type(await session.info("build"), dict[str, str])


def run(seeds: str, set_name: str) -> None:
    with SyncClient(seeds) as client:
        blocking(client.create_session(), DataSet.of("test", set_name))
