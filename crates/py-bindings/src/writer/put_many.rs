//! `put_many`: records of an iterable, handed over without a call for each of them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::Error;
use aerolane::raw::{RawKey, RawOps, RawShape};
use aerolane::sync::Mutex;
use aerolane::writer::{NewOutcome, PutQueue};
use aerospike_core::WritePolicy as CoreWrite;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};

use super::key::{Names, TableKey, USER_KEY_HEADER, WrittenKey, make_user_key};
use super::outcome_list::OutcomeList;
use super::writer::{Common, Handed, Object, SyncWriter, Writer};
use crate::argument::optional;
use crate::batch::rows::{RowKey, room};
use crate::batch::shape::add_bins_to_write;
use crate::command::block_on;
use crate::command::single::Overrides;
use crate::core::ClientCore;
use crate::dataset::DataSet;
use crate::host::{InParts, OnCancel, Pause};
use crate::key::{Key, with_user_key};
use crate::policy::WritePolicy;
use crate::{errors, host};

/// The arguments of `put_many`, as Python has given them.
struct Arguments<'a, 'py> {
    records: Object<'a, 'py>,
    dataset: Option<Object<'a, 'py>>,
    policy: Option<Object<'a, 'py>>,
    record_exists_action: Option<Object<'a, 'py>>,
    expiration: Option<Object<'a, 'py>>,
    durable_delete: Option<Object<'a, 'py>>,
}

/// Where the records come from.
enum Records {
    /// A list, and how far it has been read.
    List(Py<PyList>, usize),
    Iterator(Py<PyIterator>),
}

impl Records {
    fn of(records: Object<'_, '_>) -> PyResult<Self> {
        match records.cast_exact::<PyList>() {
            Ok(list) => Ok(Self::List(list.clone().unbind(), 0)),
            Err(_) => records.try_iter().map(|iterator| Self::Iterator(iterator.unbind())),
        }
    }

    const fn is_list(&self) -> bool {
        matches!(self, Self::List(..))
    }

    #[inline]
    fn next<'py>(&mut self, py: Python<'py>) -> Option<PyResult<Bound<'py, PyAny>>> {
        match self {
            Self::List(list, at) => {
                // The program may change it meanwhile.
                let item = list.bind(py).get_item(*at).ok()?;
                *at += 1;
                Some(Ok(item))
            }
            Self::Iterator(iterator) => iterator.bind(py).clone().next(),
        }
    }
}

/// The policy of records.
struct PolicyOf {
    given: Option<Py<WritePolicy>>,
    record_exists_action: Option<Py<PyAny>>,
    expiration: Option<Py<PyAny>>,
    durable_delete: Option<bool>,
    /// That of the namespace of the last record.
    last: Option<(Box<str>, Arc<CoreWrite>)>,
}

impl PolicyOf {
    fn of(arguments: &Arguments<'_, '_>) -> PyResult<Self> {
        let given: Option<Option<&Bound<'_, WritePolicy>>> = optional("policy", arguments.policy)?;
        let kept = |argument: Option<Object<'_, '_>>| argument.map(|argument| argument.clone().unbind());
        let this = Self {
            given: given.flatten().map(|policy| policy.clone().unbind()),
            record_exists_action: kept(arguments.record_exists_action),
            expiration: kept(arguments.expiration),
            durable_delete: optional("durable_delete", arguments.durable_delete)?,
            last: None,
        };
        // What does not fit is told before a record is asked for.
        this.overrides(arguments.records.py())?.apply(Arc::default())?;
        Ok(this)
    }

    #[inline]
    fn in_namespace(&mut self, py: Python<'_>, common: &Common, namespace: &str) -> PyResult<&Arc<CoreWrite>> {
        if self.last.as_ref().is_none_or(|(last, _)| **last != *namespace) {
            let made = self.made(py, common, namespace)?;
            self.last = Some((namespace.into(), made));
        }
        match &self.last {
            Some((_, policy)) => Ok(policy),
            None => unreachable!("it was made"),
        }
    }

    fn made(&self, py: Python<'_>, common: &Common, namespace: &str) -> PyResult<Arc<CoreWrite>> {
        let given = self.given.as_ref().map(|policy| policy.bind(py));
        common.policy(namespace, given, &self.overrides(py)?)
    }

    fn overrides<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<Overrides<'a, 'py>> {
        Ok(Overrides {
            record_exists_action: self.record_exists_action.as_ref().map(|action| action.bind(py)),
            expiration: optional("expiration", self.expiration.as_ref().map(|expiration| expiration.bind(py)))?,
            durable_delete: self.durable_delete,
            ..Overrides::default()
        })
    }
}

/// What stops the records for a while, or for good.
enum Stop {
    Over,
    /// There is no room for this record.
    Full(WrittenKey, RawShape),
    /// Others have a turn.
    Turn,
}

/// Records on their way to a writer.
struct Puts {
    common: Arc<Common>,
    records: Records,
    /// Set of the user keys.
    names: Option<Arc<Names>>,
    policy: PolicyOf,
    queue: PutQueue<WrittenKey>,
    /// Behind the records that are queued there are no more, or there is one that does not fit, or the iterable has raised.
    ended: Option<PyResult<()>>,
    made: Made,
    /// How many have been asked for, and how many were handed over.
    asked: usize,
    handed: usize,
    /// The user key of a record, as a field of a request.
    user_key: Vec<u8>,
    /// Why a record that waited for room was not handed over.
    failed: Option<Error>,
}

/// The outcomes of the records that were handed over. Of a call that is cancelled, they are left for its exception.
struct Made {
    outcomes: aerolane::OutcomeList<WrittenKey>,
    left: Arc<Mutex<aerolane::OutcomeList<WrittenKey>>>,
}

impl Drop for Made {
    fn drop(&mut self) {
        *self.left.lock() = std::mem::take(&mut self.outcomes);
    }
}

/// How long records are handed over before others have a turn.
struct Turn {
    began: Instant,
    /// How many had been handed over by then.
    first: usize,
    /// The clock is read when so many have been.
    look_at: usize,
}

impl Turn {
    const MOST_RECORDS: usize = 256;
    /// If the iterable is slow.
    const LONGEST: Duration = Duration::from_millis(1);
    /// The clock is read after so many records.
    const LOOK_EVERY: usize = 8;

    fn new(handed: usize) -> Self {
        Self { began: Instant::now(), first: handed, look_at: handed + Self::LOOK_EVERY }
    }

    fn is_over(&mut self, handed: usize) -> bool {
        if handed < self.look_at {
            return false;
        }
        self.look_at = handed + Self::LOOK_EVERY;
        handed - self.first >= Self::MOST_RECORDS || self.began.elapsed() >= Self::LONGEST
    }
}

impl Puts {
    fn new(common: &Arc<Common>, arguments: &Arguments<'_, '_>) -> PyResult<Self> {
        let py = arguments.records.py();
        common.core.check_open(py)?;
        let dataset: Option<Option<&Bound<'_, DataSet>>> = optional("dataset", arguments.dataset)?;
        let names = dataset.flatten().map(|dataset| dataset.get().names());
        let expected = if common.failures_only { 0 } else { room(arguments.records) };
        Ok(Self {
            common: Arc::clone(common),
            records: Records::of(arguments.records)?,
            names: names.map(|(namespace, set)| Names::new(namespace, set)),
            policy: PolicyOf::of(arguments)?,
            queue: PutQueue::default(),
            ended: None,
            made: Made { outcomes: aerolane::OutcomeList::with_capacity(expected), left: Arc::default() },
            asked: 0,
            handed: 0,
            user_key: Vec::new(),
            failed: None,
        })
    }

    /// Hands records over, for as long as it can at a time.
    fn hand_over(&mut self, py: Python<'_>) -> PyResult<Stop> {
        if let Some(error) = self.failed.take() {
            return Err(errors::to_py(py, &error));
        }
        let mut turn = Turn::new(self.handed);
        loop {
            while !self.queue.is_empty() {
                if let Some((key, shape)) = self.hand_queue_over(py)? {
                    return Ok(Stop::Full(key, shape));
                }
            }
            if let Some(ended) = self.ended.take() {
                return ended.map(|()| Stop::Over);
            }
            if turn.is_over(self.handed) {
                return Ok(Stop::Turn);
            }
            self.gather(py);
        }
    }

    /// Queues records that need not wait for each other: what an iterator has given does not wait for the next one.
    fn gather(&mut self, py: Python<'_>) {
        while self.queue.is_empty() || (self.records.is_list() && !self.queue.is_full()) {
            let Some(record) = self.records.next(py) else {
                self.ended = Some(Ok(()));
                return;
            };
            match record.and_then(|record| self.encode(&record)) {
                Ok((key, ops)) => self.queue.push(key, ops),
                Err(error) => {
                    self.ended = Some(Err(error));
                    return;
                }
            }
            self.asked += 1;
        }
    }

    /// Hands over what is queued of one set. Gives the record that has to wait for room.
    #[inline]
    fn hand_queue_over(&mut self, py: Python<'_>) -> PyResult<Option<(WrittenKey, RawShape)>> {
        let Some(first) = self.queue.first() else { return Ok(None) };
        let common = &*self.common;
        common.core.check(py)?;
        let policy = self.policy.in_namespace(py, common, first.namespace())?;
        let (handed, outcomes) = (&mut self.handed, &mut self.made.outcomes);
        let mut made = |outcome: NewOutcome<'_, WrittenKey>| {
            *handed += 1;
            if !common.failures_only {
                outcomes.push(outcome);
            }
        };
        common.usual.put_all(py, &common.raw, &mut self.queue, policy, &mut made)
    }

    fn keep(&mut self, outcome: Handed) {
        self.handed += 1;
        if !self.common.failures_only {
            self.made.outcomes.push(outcome);
        }
    }

    #[inline]
    fn encode(&mut self, record: &Bound<'_, PyAny>) -> PyResult<(WrittenKey, RawOps)> {
        let Ok(pair) = record.cast::<PyTuple>() else { return Err(self.no_pair(record)) };
        if pair.len() != 2 {
            return Err(self.no_pair(record));
        }
        let (key, bins) = (pair.get_borrowed_item(0)?, pair.get_borrowed_item(1)?);
        let key = self.key(&key)?;
        let mut ops = self.queue.ops();
        add_bins_to_write(&bins, &|| format!("records[{}]", self.asked), &mut ops)?;
        Ok((key, ops))
    }

    #[inline]
    fn key(&mut self, key: &Bound<'_, PyAny>) -> PyResult<WrittenKey> {
        if let Ok(key) = key.cast_exact::<Key>() {
            return Ok(WrittenKey::Object(RowKey { key: key.clone().unbind(), operate: true }));
        }
        let Some(names) = &self.names else { return Err(self.no_key(key)) };
        let field = &mut self.user_key;
        let made = with_user_key(key, |kind, value| {
            field.clear();
            field.extend_from_slice(&[0; USER_KEY_HEADER]);
            field.extend_from_slice(value);
            make_user_key(field, kind);
            Ok(TableKey::new(names, 0, &names.digest(kind, value), field))
        });
        made.map(WrittenKey::Row).map_err(|error| self.noted(key.py(), error))
    }

    #[cold]
    fn no_pair(&self, record: &Bound<'_, PyAny>) -> PyErr {
        let (place, kind) = (self.asked, record.get_type());
        PyTypeError::new_err(format!("records[{place}] must be a pair (key, bins), not {kind}"))
    }

    #[cold]
    fn no_key(&self, key: &Bound<'_, PyAny>) -> PyErr {
        let (place, kind) = (self.asked, key.get_type());
        PyTypeError::new_err(format!(
            "the key of records[{place}] must be a Key, not {kind}; with `dataset`, user keys are taken too"
        ))
    }

    #[cold]
    fn noted(&self, py: Python<'_>, error: PyErr) -> PyErr {
        // Only helps to find it.
        let _ = error.value(py).call_method1("add_note", (format!("while processing records[{}]", self.asked),));
        error
    }

    fn result(mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.common.failures_only {
            return Ok(py.None());
        }
        let outcomes = std::mem::take(&mut self.made.outcomes);
        Ok(Py::new(py, OutcomeList::new(outcomes, &self.common.core))?.into_any())
    }

    /// An exception, which knows the outcomes of the records before it.
    fn ended(mut self, py: Python<'_>, error: PyErr) -> PyErr {
        if !self.common.failures_only {
            add_outcomes(py, &error, std::mem::take(&mut self.made.outcomes), &self.common.core);
        }
        error
    }

    /// All of them, on the calling thread.
    fn run(mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        loop {
            let stopped = self.hand_over(py).and_then(|stop| {
                match stop {
                    Stop::Over => return Ok(true),
                    Stop::Full(key, shape) => {
                        let outcome = block_on(py, &self.common.core, self.common.raw.hand_over(key, shape))?;
                        self.keep(outcome.map_err(|error| errors::to_py(py, &error))?);
                    }
                    Stop::Turn => {
                        py.check_signals()?;
                        py.detach(|| ());
                    }
                }
                Ok(false)
            });
            match stopped {
                Ok(false) => {}
                Ok(true) => return self.result(py),
                Err(error) => return Err(self.ended(py, error)),
            }
        }
    }
}

/// Gives an exception the outcomes of the records that were handed over before.
fn add_outcomes(py: Python<'_>, error: &PyErr, outcomes: aerolane::OutcomeList<WrittenKey>, core: &Arc<ClientCore>) {
    let count = outcomes.len();
    let attached = Py::new(py, OutcomeList::new(outcomes, core)).and_then(|outcomes| {
        error.value(py).setattr("outcomes", outcomes)?;
        error.add_note(py, format!("put_many had passed {count} records to the writer"))
    });
    // What has failed first counts; an exception that takes no attribute stays as it is.
    drop(attached);
}

impl InParts for Puts {
    fn on_cancel(&self) -> OnCancel {
        if self.common.failures_only {
            return OnCancel::Drop;
        }
        let (left, core) = (Arc::clone(&self.made.left), Arc::clone(&self.common.core));
        OnCancel::Tell(Box::new(move |py, error| {
            let outcomes = std::mem::take(&mut *left.lock());
            add_outcomes(py, error, outcomes, &core);
        }))
    }

    fn go_on(mut self, py: Python<'_>) -> PyResult<Pause<Self>> {
        let wait: Pin<Box<dyn Future<Output = Self> + Send>> = match self.hand_over(py) {
            Err(error) => return Err(self.ended(py, error)),
            Ok(Stop::Over) => return self.result(py).map(Pause::Over),
            Ok(Stop::Turn) => Box::pin(async move {
                // On the loop's thread, outside of tokio, it wakes the task for a later turn.
                tokio::task::yield_now().await;
                self
            }),
            Ok(Stop::Full(key, shape)) => Box::pin(async move {
                match self.common.raw.hand_over(key, shape).await {
                    Ok(outcome) => self.keep(outcome),
                    Err(error) => self.failed = Some(error),
                }
                self
            }),
        };
        Ok(Pause::Wait(wait))
    }
}

impl Writer {
    fn many(&self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        let py = arguments.records.py();
        host::at_await(py, "put_many", || host::in_parts(py, &self.0.core, Puts::new(&self.0, arguments)?))
    }
}

impl SyncWriter {
    fn many(&self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        Puts::new(&self.0, arguments)?.run(arguments.records.py())
    }
}

/// Defines the method.
macro_rules! put_many {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Writes many records: the same as `put` for each of them, but faster.
            ///
            /// `records`: an iterable of pairs `(key, bins)`, such as a list or a generator. With `dataset`, a key may
            /// also be a user key (int, str or bytes) of that set. For an endless iterable, pass a part at a time.
            ///
            /// Returns an `OutcomeList` once all records are passed to the writer, or `None` if it reports failures
            /// only; in asyncio, an awaitable of it, and other tasks have turns meanwhile. An exception, also the
            /// `CancelledError` of a call that is cancelled, has the `OutcomeList` of the records before as `outcomes`: they
            /// have been passed to the writer.
            #[pyo3(signature = (records, *, dataset=None, policy=None, record_exists_action=None, expiration=None, durable_delete=None))]
            #[allow(clippy::too_many_arguments)] // the arguments of the Python method
            fn put_many(
                &self,
                records: Object<'_, '_>,
                dataset: Option<Object<'_, '_>>,
                policy: Option<Object<'_, '_>>,
                record_exists_action: Option<Object<'_, '_>>,
                expiration: Option<Object<'_, '_>>,
                durable_delete: Option<Object<'_, '_>>,
            ) -> PyResult<Py<PyAny>> {
                self.many(&Arguments { records, dataset, policy, record_exists_action, expiration, durable_delete })
            }
        }
    };
}

put_many!(Writer);
put_many!(SyncWriter);
