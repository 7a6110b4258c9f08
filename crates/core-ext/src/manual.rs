//! The manual: how the client works, and how to use it in a service.
//!
//! * [`how_it_works`]: lanes, which client to use, runtimes, how many connections are used
//! * [`operations`]: operations, batches, filters as text, transactions
//! * [`timeouts`]: timeouts, retries, what "in doubt" means, settings that change
//! * [`backpressure`]: limits, lines, many calls at a time
//! * [`tls`]: TLS and login
//! * [`observability`]: statistics, metrics, logs, slow operations, spans
//! * [`testing`]: an in-memory cluster, with faults
//! * [`defects`]: what cannot go wrong, and why
//!
//! Two programs to start from are among the crate's
//! [examples](https://github.com/aerolane/aerolane/tree/main/crates/core-ext/examples): `axum_service` and `tokio_worker`.
//!
//! These pages are also the [Rust guide](https://aerolane.github.io/aerolane/guide/) of the documentation site.

#![allow(clippy::doc_markdown)] // prose: HyperLogLogs, OpenTelemetry

macro_rules! chapters {
    ($($name:ident)*) => {$(
        #[doc = include_str!(concat!("../manual/", stringify!($name), ".md"))]
        pub mod $name {}
    )*};
}

chapters! { how_it_works operations timeouts backpressure tls observability testing defects }
