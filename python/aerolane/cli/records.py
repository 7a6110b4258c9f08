"""`aerolane get`, `put` and `delete`: single records."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from aerolane import Behavior, DataSet, Key, Record
from aerolane.cli import output
from aerolane.cli.column_types import ColumnType, infer, parse_cell, parse_types
from aerolane.cli.connection import Connection
from aerolane.cli.exit_codes import ExitCode, Failure, usage
from aerolane.cli.json_values import dumps, to_json
from aerolane.exceptions import ResultCode
from aerolane.policy import Settings


class KeyType(StrEnum):
    """What the text of a key is."""

    AUTO = "auto"
    """`int` where it is one (`42`, not `042`), else `string`."""
    INT = "int"
    STRING = "string"
    HEX = "hex"
    """Bytes, in hexadecimal."""
    DIGEST = "digest"
    """The record's digest, 40 hexadecimal digits."""


_Key = Annotated[str, typer.Argument(help="The user key. Put -- before it if it begins with a dash.")]
_Set = Annotated[str, typer.Option("-s", "--set", help="The set.")]
_Namespace = Annotated[str, typer.Option("-n", "--namespace")]
_KeyType = Annotated[KeyType, typer.Option(help="auto: an int where it is one, as load has it.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def make_key(namespace: str, set_name: str, text: str, kind: KeyType) -> Key:
    """The key that a text stands for. Raises `Failure`."""
    dataset = DataSet.of(namespace, set_name)
    try:
        if kind is KeyType.DIGEST:
            return dataset.id_from_digest(text)
        if kind is KeyType.HEX:
            return dataset.id(bytes.fromhex(text))
        is_int = kind is KeyType.INT or (kind is KeyType.AUTO and infer([text]) is ColumnType.INT)
        return dataset.id(parse_cell(text, ColumnType.INT) if is_int and text else text)
    except ValueError as error:
        raise usage(f"key {text}: {error}") from None


def get(
    connection: Connection,
    key: _Key,
    set_name: _Set,
    namespace: _Namespace = "test",
    bins: Annotated[str | None, typer.Option(help="Only these bins: a,b")] = None,
    key_type: _KeyType = KeyType.AUTO,
    as_json: _Json = False,
) -> None:
    """Print a record. Exit code 4: there is none."""
    wanted = make_key(namespace, set_name, key, key_type)
    with connection.connect() as cluster:
        record = cluster.create_session().get(wanted, bins.split(",") if bins is not None else None)
    if as_json:
        output.as_json(_described(record))
        return
    output.fields({name: dumps(value) for name, value in record.bins.items()})
    output.note(f"generation {record.generation}, {_ttl(record)}")


def _ttl(record: Record) -> str:
    return "never expires" if record.ttl is None else f"expires in {record.ttl} s"


def _described(record: Record) -> dict[str, Any]:
    bins = {name: to_json(value) for name, value in record.bins.items()}
    return {"bins": bins, "generation": record.generation, "ttl": record.ttl}


def put(
    connection: Connection,
    key: _Key,
    bins: Annotated[list[str], typer.Argument(metavar="BIN=VALUE..", help="Bins. An empty value removes the bin.")],
    set_name: _Set,
    namespace: _Namespace = "test",
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="BIN=TYPE", help="As for load: --type tags=json. Default: inferred."),
    ] = None,
    ttl: Annotated[int | None, typer.Option(help="Seconds; 0: never expires. Default: the namespace's.")] = None,
    send_key: Annotated[bool, typer.Option(help="Store the key with the record.")] = True,
    key_type: _KeyType = KeyType.AUTO,
    as_json: _Json = False,
) -> None:
    """Write bins of a record: aerolane put alice -s users name=Alice age=28 tags='[1, 2]' --type tags=json"""
    wanted = make_key(namespace, set_name, key, key_type)
    values = _values(bins, parse_types(types or ()))
    behavior = Behavior.DEFAULT.derive_with_changes("aerolane put", writes=Settings(send_key=send_key))
    with connection.connect() as cluster:
        builder = cluster.create_session(behavior).upsert(wanted).put(values)
        if ttl is not None:
            builder = builder.expire_record_after_seconds(ttl) if ttl else builder.never_expire()
        builder.execute().first_or_raise()
    if as_json:
        output.as_json({"written": True})


def _values(arguments: list[str], types: dict[str, ColumnType]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals or not name:
            raise usage(f"{argument}: write BIN=VALUE")
        if name in values:
            raise usage(f"bin {name} is listed twice")
        try:
            values[name] = parse_cell(text, types.get(name) or infer([text]))
        except ValueError as error:
            raise usage(f"bin {name}: {error}") from None
    for name in types:
        if name not in values:
            raise usage(f"--type {name}: there is no such bin")
    return values


def delete(
    connection: Connection,
    key: _Key,
    set_name: _Set,
    namespace: _Namespace = "test",
    durable: Annotated[bool, typer.Option("--durable", help="Leave a tombstone.")] = False,
    key_type: _KeyType = KeyType.AUTO,
    as_json: _Json = False,
) -> None:
    """Delete a record. Exit code 4: there was none."""
    wanted = make_key(namespace, set_name, key, key_type)
    with connection.connect() as cluster:
        builder = cluster.create_session().delete(wanted)
        result = (builder.with_durable_delete() if durable else builder).execute().first()
    existed = result is not None and result.is_ok
    if result is not None and not existed and result.result_code is not ResultCode.KEY_NOT_FOUND_ERROR:
        result.or_raise()
    if as_json:
        output.as_json({"deleted": existed})
    if not existed:
        raise Failure(ExitCode.NOT_FOUND, f"there is no record {json.dumps(key)} in {namespace}.{set_name}")
