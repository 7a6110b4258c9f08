//! One request carried out by a client. All clients have the same methods, but types of their own for errors and
//! batch rows, and some wait with `.await` and some block: so this is a macro over a few small traits.

use aerospike_core::{
    BatchPolicy, BatchReadPolicy, BatchWritePolicy, ClientPolicy, ReadPolicy, RecordExistsAction, ResultCode,
    WritePolicy,
};

use super::ClientError;
use crate::measure::{Done, Failure};
use crate::spec::RunSpec;
use crate::workload::{Request, Workload};

/// The policies of a run, made once. All clients take the same types.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) read: ReadPolicy,
    pub(crate) write: WritePolicy,
    pub(crate) batch: BatchPolicy,
    pub(crate) batch_read: BatchReadPolicy,
    pub(crate) batch_write: BatchWritePolicy,
}

impl Policies {
    /// The clients' defaults, changed where the run asks for it.
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let mut policies = Self::default();
        if let Some(timeout) = spec.settings.timeout_ms {
            policies.read.base_policy.total_timeout = timeout;
            policies.write.base_policy.total_timeout = timeout;
            policies.batch.base_policy.total_timeout = timeout;
        }
        if matches!(spec.workload, Workload::ReadReplace { .. }) {
            policies.write.record_exists_action = RecordExistsAction::Replace;
            policies.batch_write.record_exists_action = RecordExistsAction::Replace;
        }
        policies
    }

    /// The same, for as long as the process lives.
    pub(crate) fn leak(spec: &RunSpec) -> &'static Self {
        Box::leak(Box::new(Self::new(spec)))
    }
}

/// The client policy of a run: the defaults, changed where the run asks for it.
pub(crate) fn client_policy(spec: &RunSpec) -> Result<ClientPolicy, ClientError> {
    let settings = &spec.settings;
    let mut policy =
        ClientPolicy { use_services_alternate: settings.use_services_alternate, ..ClientPolicy::default() };
    if let Some(max) = settings.max_conns_per_node {
        policy.max_conns_per_node = max;
    }
    if let Some(pools) = settings.conn_pools_per_node {
        policy.conn_pools_per_node = pools;
    }
    if let Some(interval) = settings.tend_interval_ms {
        policy.tend_interval = interval;
    }
    if let Some(certificate) = &spec.tls_certificate {
        policy.tls_policy = Some(crate::tls::policy(certificate).map_err(|reason| ClientError::Tls { reason })?);
    }
    Ok(policy)
}

/// What the harness asks of a client's error.
pub(crate) trait CallError: std::fmt::Display {
    /// The record does not exist.
    fn is_missing_record(&self) -> bool;
    /// A deadline passed, at the client or at the server.
    fn is_timeout(&self) -> bool;
}

impl CallError for aerospike_core::Error {
    fn is_missing_record(&self) -> bool {
        self.matches(&[ResultCode::KeyNotFoundError])
    }

    fn is_timeout(&self) -> bool {
        self.is_client_timeout() || self.matches(&[ResultCode::Timeout])
    }
}

/// What the harness asks of a batch row after the call.
pub(crate) trait BatchRow {
    /// The row's result code; none if it was never carried out.
    fn code(&self) -> Option<ResultCode>;
    /// Why the row failed.
    fn reason(&self) -> String;
}

impl BatchRow for aerospike_core::BatchOperation {
    fn code(&self) -> Option<ResultCode> {
        self.result_code()
    }

    fn reason(&self) -> String {
        self.error().map_or_else(|| "not carried out".to_owned(), ToString::to_string)
    }
}

pub(crate) fn failure(error: &impl CallError) -> Failure {
    Failure { timeout: error.is_timeout(), message: error.to_string() }
}

/// A read of a record that does not exist is a successful read.
#[inline]
pub(crate) fn read_outcome<T, E: CallError>(answer: Result<T, E>) -> Result<Done, Failure> {
    match answer {
        Ok(_) => Ok(Done { records: 1, not_found: 0 }),
        Err(error) if error.is_missing_record() => Ok(Done { records: 1, not_found: 1 }),
        Err(error) => Err(failure(&error)),
    }
}

#[inline]
pub(crate) fn write_outcome<E: CallError>(answer: Result<(), E>) -> Result<Done, Failure> {
    match answer {
        Ok(()) => Ok(Done { records: 1, not_found: 0 }),
        Err(error) => Err(failure(&error)),
    }
}

/// A batch counts as done when each of its rows was answered with success or not-found.
pub(crate) fn batch_outcome<E: CallError>(rows: &[impl BatchRow], sent: Result<(), E>) -> Result<Done, Failure> {
    let (mut not_found, mut failed, mut timeouts) = (0, 0, 0);
    let mut first = None;
    for row in rows {
        match row.code() {
            Some(ResultCode::Ok) => {}
            Some(ResultCode::KeyNotFoundError) => not_found += 1,
            code => {
                failed += 1;
                timeouts += usize::from(matches!(code, Some(ResultCode::Timeout)));
                first.get_or_insert(row);
            }
        }
    }
    match (sent, first) {
        // A call may report a failure although the only failures are records that do not exist.
        (_, None) => Ok(Done { records: rows.len() as u64, not_found }),
        (Err(error), _) => Err(failure(&error)),
        (Ok(()), Some(row)) => Err(Failure {
            timeout: timeouts == failed,
            message: format!("{failed} of {} batch rows failed, the first: {}", rows.len(), row.reason()),
        }),
    }
}

/// Carries out a request for one record; `$wait` is `.await` or nothing.
///
/// Apart from [`perform_batch`], because a task is as large as the largest call that it may make.
macro_rules! perform_single {
    ($client:expr, $policies:expr, $request:expr, $($wait:tt)*) => {{
        let (client, policies): (_, &$crate::clients::calls::Policies) = ($client, $policies);
        match $request {
            $crate::workload::Request::Read(key) => $crate::clients::calls::read_outcome(
                client.get(&policies.read, &key, aerospike_core::Bins::All) $($wait)*,
            ),
            $crate::workload::Request::Write(key, bin) => {
                $crate::clients::calls::write_outcome(client.put(&policies.write, &key, &[bin]) $($wait)*)
            }
            request => Err($crate::clients::calls::wrong_loop(&request)),
        }
    }};
}

/// Carries out a request for the first item of a list; `$get` is the client's operation, and `$wait` is `.await` or
/// nothing.
macro_rules! perform_list_get {
    ($client:expr, $policies:expr, $request:expr, $get:path, $($wait:tt)*) => {{
        let (client, policies): (_, &$crate::clients::calls::Policies) = ($client, $policies);
        match $request {
            $crate::workload::Request::ListGet(key) => $crate::clients::calls::read_outcome(
                client.operate(&policies.write, &key, &[$get($crate::workload::BIN, 0)]) $($wait)*,
            ),
            request => Err($crate::clients::calls::wrong_loop(&request)),
        }
    }};
}

/// Carries out a request for several records. `$prebuilt` are the rows of the run, if any; `$row` is the client's batch
/// row type, `$put` its operation that writes a bin, and `$wait` is `.await` or nothing.
macro_rules! perform_batch {
    ($client:expr, $policies:expr, $prebuilt:expr, $request:expr, $row:ty, $put:path, $($wait:tt)*) => {{
        let (client, policies): (_, &$crate::clients::calls::Policies) = ($client, $policies);
        let prebuilt: &$crate::clients::rows::PrebuiltRows<$row> = $prebuilt;
        match $request {
            $crate::workload::Request::BatchRead(keys) => {
                let mut rows: Vec<$row> = keys
                    .into_iter()
                    .map(|key| <$row>::read(&policies.batch_read, key, aerospike_core::Bins::All))
                    .collect();
                let sent = client.batch(&policies.batch, &mut rows) $($wait)*;
                $crate::clients::calls::batch_outcome(&rows, sent)
            }
            $crate::workload::Request::BatchWrite(records) => {
                let mut rows: Vec<$row> = records
                    .into_iter()
                    .map(|(key, bin)| <$row>::write(&policies.batch_write, key, vec![$put(&bin)]))
                    .collect();
                let sent = client.batch(&policies.batch, &mut rows) $($wait)*;
                $crate::clients::calls::batch_outcome(&rows, sent)
            }
            $crate::workload::Request::Prebuilt { read, rows } => match prebuilt.take(read) {
                Some(mut rows) => {
                    let sent = client.batch(&policies.batch, &mut rows) $($wait)*;
                    let outcome = $crate::clients::calls::batch_outcome(&rows, sent);
                    prebuilt.give_back(read, rows);
                    outcome
                }
                None => Err($crate::clients::calls::wrong_loop(&$crate::workload::Request::Prebuilt { read, rows })),
            },
            request => Err($crate::clients::calls::wrong_loop(&request)),
        }
    }};
}

/// The rows of a run that asks for prebuilt keys; see [`perform_batch`].
macro_rules! prebuilt_rows {
    ($stage:expr, $policies:expr, $row:ty, $put:path) => {{
        let policies: &$crate::clients::calls::Policies = $policies;
        $crate::clients::rows::PrebuiltRows::<$row>::leak(
            $stage,
            |key| <$row>::read(&policies.batch_read, key, aerospike_core::Bins::All),
            |key, bin| <$row>::write(&policies.batch_write, key, vec![$put(&bin)]),
        )
    }};
}

pub(crate) use {perform_batch, perform_list_get, perform_single, prebuilt_rows};

/// A request that was drawn for the other kind of loop: a mistake of the harness, which the report then shows.
#[cold]
pub(crate) fn wrong_loop(request: &Request) -> Failure {
    Failure { timeout: false, message: format!("the harness gave a request to the wrong loop: {request:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Wrong {
        missing: bool,
        timeout: bool,
    }

    impl std::fmt::Display for Wrong {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("wrong")
        }
    }

    impl CallError for Wrong {
        fn is_missing_record(&self) -> bool {
            self.missing
        }

        fn is_timeout(&self) -> bool {
            self.timeout
        }
    }

    struct Row(Option<ResultCode>);

    impl BatchRow for Row {
        fn code(&self) -> Option<ResultCode> {
            self.0
        }

        fn reason(&self) -> String {
            format!("{:?}", self.0)
        }
    }

    #[test]
    fn not_found_is_a_successful_read_but_no_successful_write() {
        let missing = || Err(Wrong { missing: true, timeout: false });
        assert_eq!(read_outcome::<(), _>(missing()).unwrap(), Done { records: 1, not_found: 1 });
        assert!(write_outcome(missing()).is_err());
        assert!(read_outcome::<(), _>(Err(Wrong { missing: false, timeout: true })).unwrap_err().timeout);
    }

    #[test]
    fn a_batch_is_judged_by_its_rows() {
        let ok = Some(ResultCode::Ok);
        let missing = Some(ResultCode::KeyNotFoundError);
        let wrong = || Err(Wrong { missing: false, timeout: false });
        assert_eq!(batch_outcome(&[Row(ok), Row(missing)], wrong()).unwrap(), Done { records: 2, not_found: 1 });
        assert_eq!(batch_outcome(&[Row(ok), Row(None)], wrong()).unwrap_err().message, "wrong");
        let failure =
            batch_outcome::<Wrong>(&[Row(ok), Row(None), Row(Some(ResultCode::Timeout))], Ok(())).unwrap_err();
        assert_eq!(failure.message, "2 of 3 batch rows failed, the first: None");
        assert!(!failure.timeout);
        assert!(batch_outcome::<Wrong>(&[Row(Some(ResultCode::Timeout))], Ok(())).unwrap_err().timeout);
    }
}
