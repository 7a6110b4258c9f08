//! Spans of operations: one per call of a client, with the names of OpenTelemetry's conventions for databases.
//!
//! What is known only at the end (the node, how it ended) is recorded by [`record`] while the span is entered. Nothing of keys,
//! bins and values is in a span.

use aerospike_core::CommandType;
use tracing::Span;
use tracing::field::{Empty, display};

use super::attempts::Subject;
use super::watch::Ended;

/// The target of all spans: a filter such as `aerolane::operation=off` goes by it.
const TARGET: &str = "aerolane::operation";

/// The span of a call about records of this namespace and set.
pub(crate) fn of(command: CommandType, Subject { namespace, set }: Subject<'_>, rows: Option<usize>) -> Span {
    tracing::info_span!(
        target: TARGET,
        "operation",
        otel.kind = "client",
        otel.name = %format_args!("{command:?} {namespace}{}{set}", if set.is_empty() { "" } else { "." }),
        otel.status_code = Empty,
        db.system.name = "aerospike",
        db.namespace = namespace,
        db.collection.name = set,
        db.operation.name = ?command,
        db.operation.batch.size = rows,
        db.response.status_code = Empty,
        server.address = Empty,
        server.port = Empty,
        error.r#type = Empty,
        aerolane.attempts = Empty,
    )
}

/// Records how the operation of the present span has ended.
pub(super) fn record(operation: &Ended<'_>) {
    let span = Span::current();
    // It may be a span of the program: this one may be filtered out.
    if span.metadata().is_none_or(|metadata| metadata.target() != TARGET) {
        return;
    }
    if let Some((address, port)) = operation.node().and_then(|node| node.split_once(": ")?.1.rsplit_once(':')) {
        span.record("server.address", address.trim_matches(['[', ']']));
        span.record("server.port", port.parse::<u16>().ok());
    }
    span.record("aerolane.attempts", operation.attempts);
    let code = operation.error.map_or(0, crate::error::Error::result_code);
    span.record("db.response.status_code", display(code));
    // That there is no such record is an answer like others: a cache that misses is not at fault.
    if let Some(error) = operation.error.filter(|error| !error.is_not_found()) {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", error.kind().name());
    }
}
