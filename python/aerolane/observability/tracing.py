"""Spans of `opentelemetry` for the operations of a session."""

import importlib
import inspect
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar, cast

import aerolane._aerolane as compiled
from aerolane._aerolane import (
    AerospikeError,
    AwaitableStream,
    DataSet,
    FilteredOutError,
    Key,
    RecordNotFoundError,
    Session,
    SyncSession,
)
from aerolane.exporters.exporter import missing

_S = TypeVar("_S", Session, SyncSession)

# Methods of a session that are an operation each, and those that begin a builder.
_CALLS: Final = frozenset(
    {
        "get",
        "put",
        "get_many",
        "put_many",
        "truncate",
        "write_table",
        "create_index",
        "drop_index",
        "commit",
        "abort",
        "rollback",
    }
)
_VERBS: Final = frozenset(
    {
        "query",
        "upsert",
        "insert",
        "update",
        "replace",
        "replace_if_exists",
        "delete",
        "touch",
        "exists",
        "execute_udf",
    }
)
# Methods of a session that give another one.
_SESSIONS: Final = frozenset({"session_for", "transaction", "begin_transaction", "transaction_session", "batch"})
# Methods of a builder that send it.
_TERMINALS: Final = frozenset({"execute", "stream", "execute_stream", "first", "first_or_raise"})
# All builders, and the parts of them that are about one bin.
_BUILDERS: Final = tuple(
    getattr(compiled, name) for name in dir(compiled) if name.endswith("Builder") and name != "TlsBuilder"
)
# Answers of the database, not failures.
_ANSWERS: Final = (RecordNotFoundError, FilteredOutError)


def trace_session(session: _S, tracer_provider: Any = None, *, attributes: Mapping[str, str] | None = None) -> _S:
    """Returns a session that records a span for each operation, and is otherwise the same.

    Use it instead of `session`, which stays as it is and records nothing. Spans have the kind CLIENT and the attributes
    of the OpenTelemetry conventions for databases: `db.system.name`, `db.namespace`, `db.collection.name` (the set),
    `db.operation.name`, and `db.operation.batch.size` for several records. The span of a failed operation also has
    `db.response.status_code`, `error.type`, `server.address`, `server.port`, `aerolane.attempts`, `aerolane.phase` and
    `aerolane.in_doubt`. No span has a key or the value of a bin.

    A span begins with the call and ends with its answer. The span of a query of a data set, or of `stream()`, ends when
    its results can be read. `RecordNotFoundError` and `FilteredOutError` are answers: the span has their status code,
    but no error. Results of single records within a batch are not in the span.

    * `session`: a session of a client or of a cluster, for asyncio or without it
    * `tracer_provider`: default the global one
    * `attributes`: added to all spans, to tell one client from another

    Sessions that it returns (`transaction()`, `session_for(..)`, `do_in_transaction`) are traced as well. Writers, info
    commands and background tasks are not.

    Raises `ImportError` without the package `opentelemetry-api`, and `TypeError` if `session` is not a session.
    """
    _check(session)
    return cast(_S, _wrap_session(session, _Tracing(tracer_provider, attributes)))


def _check(session: object) -> None:
    if not isinstance(session, Session | SyncSession):
        raise TypeError(f"a session expected, not {type(session).__name__}")


class _Operation:
    """What an operation does, and to which records."""

    def __init__(self, verb: str, targets: tuple[Any, ...]) -> None:
        self._verbs = {verb: None}
        self._records = 0
        self._where: Key | DataSet | None = None
        self._add(targets)

    def also(self, verb: str, targets: tuple[Any, ...]) -> None:
        """Adds another verb of the same chain."""
        self._verbs[verb] = None
        self._add(targets)

    def _add(self, targets: tuple[Any, ...]) -> None:
        for target in targets:
            if isinstance(target, list | tuple):
                self._add(tuple(cast("list[Any]", target)))
            elif isinstance(target, Key | DataSet):
                self._records += isinstance(target, Key)
                self._where = self._where or target

    @property
    def name(self) -> str:
        """The operation, as the conventions name it."""
        verbs = [*self._verbs]
        # `get_many` and `put_many` send single requests.
        if self._records < 2 or verbs[0].endswith("_many"):
            return verbs[0]
        return f"BATCH {verbs[0]}" if len(verbs) == 1 else "BATCH"

    def attributes(self) -> dict[str, Any]:
        """Returns what is known before it is sent."""
        found: dict[str, Any] = {"db.operation.name": self.name}
        if self._where is not None:
            found["db.namespace"] = self._where.namespace
            if self._where.set_name:
                found["db.collection.name"] = self._where.set_name
        if self._records > 1:
            found["db.operation.batch.size"] = self._records
        return found


class _Tracing:
    """Makes spans."""

    def __init__(self, tracer_provider: Any, attributes: Mapping[str, str] | None) -> None:
        try:
            self._trace = importlib.import_module("opentelemetry.trace")
            self._context = importlib.import_module("opentelemetry.context")
        except ImportError:
            raise missing("opentelemetry", "opentelemetry-api") from None
        self._tracer = self._trace.get_tracer("aerolane", compiled.__version__, tracer_provider)
        self._attributes = {"db.system.name": "aerospike", **(attributes or {})}

    def call(self, operation: _Operation, begin: Callable[[], Any]) -> Any:
        """Begins an operation and returns its result; the span ends with the answer."""
        span = _Span(self, operation)
        try:
            begun = begin()
        except BaseException as error:
            span.end(error)
            raise
        if isinstance(begun, AwaitableStream):
            return _TracedStream(begun, span)
        if inspect.isawaitable(begun):
            return _answer(begun, span)
        span.end(None)
        return begun

    def context(self) -> Any:
        """Returns the parent of spans that begin now."""
        return self._context.get_current()

    def record(self, operation: _Operation, parent: Any, began: int, error: BaseException | None) -> None:
        """Records the span of an operation that has ended."""
        attributes = {**self._attributes, **operation.attributes(), **(_facts(error) if error else {})}
        target = ".".join(attributes[name] for name in ("db.namespace", "db.collection.name") if name in attributes)
        span = self._tracer.start_span(
            f"{operation.name} {target}".rstrip(),
            context=parent,
            kind=self._trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=began,
        )
        if error is not None and not isinstance(error, _ANSWERS):
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, attributes["error.type"]))
        span.end()


def _facts(error: BaseException) -> dict[str, Any]:
    """Returns the attributes of an error. Its text is left out, because it may name a key."""
    found: dict[str, Any] = {}
    if not isinstance(error, _ANSWERS):
        found["error.type"] = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(error, AerospikeError):
        if error.result_code is not None:
            found["db.response.status_code"] = error.result_code.name
        found["aerolane.in_doubt"] = error.in_doubt
        found["aerolane.attempts"] = error.attempts
        if error.phase is not None:
            found["aerolane.phase"] = error.phase
        # "<id>: <address>:<port>"
        host, _, port = (error.node or "").partition(": ")[2].rpartition(":")
        if host and port.isdecimal():
            found["server.address"] = host.strip("[]")
            found["server.port"] = int(port)
    return found


class _Span:
    """Where and when an operation began. Its span is recorded when it ends."""

    __slots__ = ("_began", "_operation", "_parent", "_tracing")

    def __init__(self, tracing: _Tracing, operation: _Operation) -> None:
        self._tracing: _Tracing | None = tracing
        self._operation = operation
        self._parent = tracing.context()
        self._began = time.time_ns()

    def end(self, error: BaseException | None) -> None:
        """Records the span, once."""
        tracing, self._tracing = self._tracing, None
        if tracing is not None:
            tracing.record(self._operation, self._parent, self._began, error)


async def _answer(begun: Any, span: _Span) -> Any:
    try:
        answer = await begun
    except BaseException as error:
        span.end(error)
        raise
    span.end(None)
    return answer


class _TracedStream:
    """An `AwaitableStream` whose span ends when it is open."""

    def __init__(self, stream: AwaitableStream, span: _Span) -> None:
        self._stream = stream
        self._span = span

    def __await__(self) -> Any:
        return _answer(self._stream, self._span).__await__()

    async def __aenter__(self) -> Any:
        return await _answer(self._stream.__aenter__(), self._span)

    async def __aexit__(self, *exception: Any) -> Any:
        return await self._stream.__aexit__(*exception)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _TracedBuilder:
    """A builder, or the part of a builder for one bin."""

    def __init__(self, builder: Any, tracing: _Tracing, operation: _Operation) -> None:
        self._builder = builder
        self._tracing = tracing
        self._operation = operation

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._builder, name)
        if not callable(found):
            return found
        if name in _TERMINALS:

            def send(*args: Any, **named: Any) -> Any:
                return self._tracing.call(self._operation, partial(found, *args, **named))

            return send

        def step(*args: Any, **named: Any) -> Any:
            given = found(*args, **named)
            # Steps of bins have names of verbs, too (`bin("a").exists()`); only those of chains take keys.
            if name in _VERBS and args and isinstance(args[0], Key | DataSet | list):
                self._operation.also(name, args)
            if not isinstance(given, _BUILDERS):
                return given
            return self if given is self._builder else _TracedBuilder(given, self._tracing, self._operation)

        return step

    def __repr__(self) -> str:
        return repr(self._builder)


def _call(tracing: _Tracing, name: str, method: Any, /, *args: Any, **named: Any) -> Any:
    return tracing.call(_Operation(name, (*args, *named.values())), partial(method, *args, **named))


def _build(tracing: _Tracing, name: str, method: Any, /, *args: Any, **named: Any) -> Any:
    return _TracedBuilder(method(*args, **named), tracing, _Operation(name, (*args, *named.values())))


def _session(tracing: _Tracing, _name: str, method: Any, /, *args: Any, **named: Any) -> Any:
    return _wrap_session(method(*args, **named), tracing)


def _transact(tracing: _Tracing, _name: str, method: Any, /, operation: Any, **named: Any) -> Any:
    def traced(session: Any) -> Any:
        return operation(_wrap_session(session, tracing))

    return method(traced, **named)


# What a traced session does for these methods. It passes all others on.
_CALLS_OF_SESSIONS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(_CALLS, _call),
    **dict.fromkeys(_VERBS, _build),
    **dict.fromkeys(_SESSIONS, _session),
    "do_in_transaction": _transact,
}


class _TracedSession:
    """A session whose operations are traced."""

    def __init__(self, session: Any, tracing: _Tracing) -> None:
        self._session = session
        self._tracing = tracing

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        make = _CALLS_OF_SESSIONS.get(name)
        return found if make is None else partial(make, self._tracing, name, found)

    def __repr__(self) -> str:
        return repr(self._session)


class _TracedTransaction(_TracedSession):
    """A session of a transaction. The end of its block is an operation."""

    def __enter__(self) -> Any:
        self._session.__enter__()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> Any:
        return self._tracing.call(_end(kind), partial(self._session.__exit__, kind, *rest))

    async def __aenter__(self) -> Any:
        await self._session.__aenter__()
        return self

    async def __aexit__(self, kind: Any, *rest: Any) -> Any:
        return await self._tracing.call(_end(kind), partial(self._session.__aexit__, kind, *rest))


def _end(kind: Any) -> _Operation:
    return _Operation("commit" if kind is None else "abort", ())


def _wrap_session(session: Any, tracing: _Tracing) -> _TracedSession:
    is_transaction = hasattr(session, "commit")
    return (_TracedTransaction if is_transaction else _TracedSession)(session, tracing)
