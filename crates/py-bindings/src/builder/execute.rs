//! Carrying a chain out: one record → one request on the lane; several → one batch, or as many as it takes to keep the order of
//! operations on a record that several of them are about; a data set → a query.

use std::borrow::{Borrow, Cow};
use std::collections::HashSet;
use std::sync::Arc;

use aerolane::Error;
use aerolane::ael::Version;
use aerolane::raw::RawShape;
use aerolane::raw::command::encode::{operate_header, read_header, write_header};
use aerolane_wire::WireError;
use aerolane_wire::message::{info1, info2, op};
use aerolane_wire::particle::particle_type;
use aerospike_core::{
    BasePolicy, BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, GenerationPolicy,
    ReadPolicy, WritePolicy,
};
use pyo3::prelude::*;

use super::answers::Answers;
use super::chain::{Chain, Keys, Projection, Segment, Shared, Target};
use super::context::Context;
use super::dataset::Query;
use super::live::LiveRows;
use super::on_error::{Judge, OnError};
use super::ops::Ops;
use super::result::{Outcome, Row};
use super::stream::{Chunks, Source};
use super::surface::Surface;
use super::verb::Verb;
use super::whole::{Membership, Whole};
use crate::batch::implicit::Implicit;
use crate::batch::rows::{RowKey, Rows};
use crate::batch::run::{Batches, Ran, is_answered};
use crate::call::{self, AnswerKind, Call, HandlerRef, PolicyRef};
use crate::command::Executable;
use crate::command::single::Single;
use crate::key::Key;
use crate::query::statement::Function;
use crate::query::{PartitionFilter, commands as query};
use crate::{errors, request, udf};

/// What a terminal (the method that carries a chain out) returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalKind {
    /// All results.
    Stream,
    /// All results, as they come.
    Live,
    /// The first result, or `None`.
    First,
    /// The first result, which there must be.
    FirstOrRaise,
}

impl TerminalKind {
    const ALL: [Self; 4] = [Self::Stream, Self::Live, Self::First, Self::FirstOrRaise];

    const fn name(self) -> &'static str {
        match self {
            Self::Stream => "execute",
            Self::Live => "stream",
            Self::First => "first",
            Self::FirstOrRaise => "first_or_raise",
        }
    }

    /// What the results become.
    #[inline]
    fn make(self, py: Python<'_>, surface: Surface, mut source: Source) -> PyResult<Py<PyAny>> {
        if matches!(self, Self::Stream | Self::Live) {
            return surface.stream(py, || source);
        }
        match source.take(&mut Vec::new()) {
            None if self == Self::First => Ok(py.None()),
            None => Err(empty(py)),
            Some(row) => {
                let result = row.into_python(py)?;
                if self == Self::FirstOrRaise {
                    result.get().check(py)?;
                }
                Ok(result.into_any())
            }
        }
    }
}

/// There is no first result: no record was found.
#[cold]
pub(super) fn empty(py: Python<'_>) -> PyErr {
    errors::to_py(py, &Error::server_bare(aerospike_core::ResultCode::KeyNotFoundError))
}

/// Carries a chain out.
pub(super) fn execute<S: Borrow<Shared>>(
    py: Python<'_>,
    chain: impl FnOnce() -> PyResult<S>,
    on_error: Option<&Bound<'_, PyAny>>,
    surface: Surface,
    terminal: TerminalKind,
) -> PyResult<Py<PyAny>> {
    surface.guard(py, terminal.name(), || {
        let (shared, on_error) = (chain()?, OnError::of(on_error)?);
        let shared: &Shared = shared.borrow();
        let mut chain = shared.lock_py_attached(py);
        chain.check_whole(py)?;
        let context = &*shared.context;
        let core = &context.core;
        if !chain.cut_keys() {
            core.check_open(py)?;
            drop(chain);
            return surface.ready(py, terminal.make(py, surface, Source::One(None))?);
        }
        let one = matches!(&chain.target, Target::Keys { before, last } if before.is_empty() && last.keys.len() == 1);
        let chained = matches!(&chain.target, Target::Keys { before, .. } if !before.is_empty());
        let judge = Judge {
            on_error: on_error.unwrap_or(if one { OnError::Raise } else { OnError::InStream }),
            fail_on_filtered_out: chain.fail_on_filtered_out,
            include_missing_keys: chain.include_missing_keys,
            one,
            chained,
            each: terminal == TerminalKind::Live,
        };
        if one && !chain.applies_function() {
            let single = single(py, context, &mut chain, judge, surface, terminal)?;
            drop(chain);
            return surface.carry_out(py, core, single);
        }
        core.check_open(py)?;
        let taken = chain.take();
        drop(chain);
        // SAFETY: it is attached. `PyO3` may not have been told (`fast_call`), and of these calls objects of Python are dropped.
        unsafe { Python::attach_unchecked(|py| execute_many(py, context, taken, judge, surface, terminal)) }
    })
}

/// `execute()` of a builder, without arguments.
pub(super) fn execute_plainly(py: Python<'_>, chain: &Shared, surface: Surface) -> PyResult<Option<Py<PyAny>>> {
    execute(py, || Ok(chain), None, surface, TerminalKind::Stream).map(Some)
}

/// Carries out what is not one request about one record.
fn execute_many(
    py: Python<'_>,
    context: &Context,
    mut chain: Chain,
    judge: Judge,
    surface: Surface,
    terminal: TerminalKind,
) -> PyResult<Py<PyAny>> {
    let core = &context.core;
    if let Target::DataSet(query) = &chain.target {
        return dataset(py, context, &chain, query, surface, terminal);
    }
    if judge.one
        && let Some((function, key, policy)) = chain.only_function(py, context)
    {
        return apply(py, core, *function, key, policy, judge, surface, terminal);
    }
    let several = several(py, context, chain, judge.chained || terminal == TerminalKind::Live)?;
    if terminal == TerminalKind::Live && several.policy.base_policy.txn.is_none() {
        let rows = LiveRows::begin(py, core, several, judge);
        return surface.ready(py, surface.stream(py, || Source::Live(Arc::new(rows)))?);
    }
    surface.carry_out(py, core, several.command(judge, surface, terminal))
}

/// Makes the result of a call about one record.
#[derive(Debug, Clone, Copy)]
struct SingleCall {
    verb: Verb,
    /// Whether its record is one of results; `None`: it has no record.
    operate: Option<bool>,
    surface: Surface,
    terminal: TerminalKind,
}

/// All that there are: a call refers to one of them.
static ALL: [SingleCall; SingleCall::COUNT] = {
    let mut all = [SingleCall::at(0); SingleCall::COUNT];
    let mut place = 0;
    while place < SingleCall::COUNT {
        all[place] = SingleCall::at(place);
        assert!(all[place].place() == place);
        place += 1;
    }
    all
};

impl SingleCall {
    const COUNT: usize = Verb::ALL.len() * 3 * 2 * TerminalKind::ALL.len();

    const fn at(place: usize) -> Self {
        const GIVES: usize = TerminalKind::ALL.len();
        Self {
            verb: Verb::ALL[place / GIVES / 2 / 3],
            operate: [None, Some(false), Some(true)][place / GIVES / 2 % 3],
            surface: [Surface::Async, Surface::Sync][place / GIVES % 2],
            terminal: TerminalKind::ALL[place % GIVES],
        }
    }

    /// Its place among all.
    const fn place(self) -> usize {
        let operate = match self.operate {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        };
        ((self.verb as usize * 3 + operate) * 2 + self.surface as usize) * TerminalKind::ALL.len()
            + self.terminal as usize
    }

    fn failed(self, py: Python<'_>, judge: &Judge, key: &Py<Key>, error: &Error) -> PyResult<Py<PyAny>> {
        let row = Row { key: Some(key.clone_ref(py)), index: 0, outcome: Outcome::Failed(error.clone()) };
        let admitted = judge.admit(py, self.verb, row)?;
        self.terminal.make(py, self.surface, Source::One(admitted))
    }
}

impl call::AnswerHandler for SingleCall {
    fn answered(&self, py: Python<'_>, key: &Py<Key>, body: Cow<'_, [u8]>) -> PyResult<Py<PyAny>> {
        // Only a failure is not for everybody to see.
        let source = || {
            let outcome = match self.operate {
                None => Outcome::Done,
                Some(operate) => Outcome::Answered { body: body.into(), operate },
            };
            Source::One(Some(Row { key: Some(key.clone_ref(py)), index: 0, outcome }))
        };
        match self.terminal {
            TerminalKind::Stream | TerminalKind::Live => self.surface.stream(py, source),
            TerminalKind::First | TerminalKind::FirstOrRaise => self.terminal.make(py, self.surface, source()),
        }
    }

    fn failed(&self, py: Python<'_>, key: &Py<Key>, error: &Error) -> PyResult<Py<PyAny>> {
        (*self).failed(py, &Judge::of_one(self.terminal == TerminalKind::Live), key, error)
    }
}

/// The same, for a call that says who hears of failures.
struct JudgedCall {
    one: SingleCall,
    judge: Judge,
}

impl call::AnswerHandler for JudgedCall {
    fn answered(&self, py: Python<'_>, key: &Py<Key>, body: Cow<'_, [u8]>) -> PyResult<Py<PyAny>> {
        self.one.answered(py, key, body)
    }

    fn failed(&self, py: Python<'_>, key: &Py<Key>, error: &Error) -> PyResult<Py<PyAny>> {
        self.one.failed(py, &self.judge, key, error)
    }
}

impl Segment {
    /// Whether its records are those of results; `None`: it gives none.
    fn operate(&self) -> Option<bool> {
        match self.verb {
            Verb::Query => Some(!self.ops.is_empty()),
            Verb::Delete | Verb::Touch | Verb::Exists | Verb::Udf => None,
            _ => Some(self.ops.results),
        }
    }

    /// What the record becomes to the metrics.
    fn becomes(&self) -> AnswerKind {
        match self.verb {
            Verb::Query if self.ops.is_empty() => AnswerKind::Record,
            Verb::Query => AnswerKind::Results,
            Verb::Delete | Verb::Exists => AnswerKind::Exists,
            Verb::Touch | Verb::Udf => AnswerKind::Nothing,
            _ if self.ops.results => AnswerKind::Results,
            _ => AnswerKind::Nothing,
        }
    }
}

impl Projection {
    /// The bits of the header, and the operations, of a read without steps.
    fn asked(self) -> (u8, Ops) {
        match self {
            Self::All => (info1::GET_ALL, Ops::default()),
            Self::Named(names) => (0, *names),
            Self::Nothing => (info1::NO_BIN_DATA, Ops::default()),
        }
    }
}

impl Whole {
    /// The policy of a read with what was said of it.
    fn read_policy(&self, context: &Context, segment: &mut Segment) -> Arc<ReadPolicy> {
        let filter = segment.filter.take().map(|filter| *filter).or_else(|| self.default_filter());
        if let Some(given) = self.reads_by() {
            let mut policy = Arc::clone(given);
            let base = &mut Arc::make_mut(&mut policy).base_policy;
            base.filter_expression = filter.or_else(|| base.filter_expression.take());
            self.join(context, base);
            return policy;
        }
        let mut policy = context.read(segment.keys.first().get());
        if filter.is_some() || self.txn.is_own() {
            let base = &mut Arc::make_mut(&mut policy).base_policy;
            base.filter_expression = filter;
            base.txn = self.transaction(context).cloned();
        }
        policy
    }

    /// Has a policy that was given be part of what the chain is part of; `with_txn()` goes before what it says itself.
    fn join(&self, context: &Context, base: &mut BasePolicy) {
        if self.txn.is_own() || base.txn.is_none() {
            base.txn = self.transaction(context).cloned();
        }
    }

    /// The policy of a write with what was said of it.
    fn write_policy(&self, context: &Context, segment: &mut Segment) -> Arc<WritePolicy> {
        let mut policy = context.write(segment.keys.first().get());
        let action = segment.verb.action();
        let nothing_said = segment.filter.is_none()
            && segment.expiration.is_none()
            && segment.durable_delete.is_none()
            && segment.generation.is_none()
            && self.says_nothing();
        if nothing_said && policy.record_exists_action == action {
            return policy;
        }
        let filter = segment.filter.take().map(|filter| *filter).or_else(|| self.default_filter());
        let expiration = self.expiration(segment);
        let durable_delete = segment.durable_delete.or_else(|| self.default_durable_delete());
        let generation = segment.generation;
        let changed = Arc::make_mut(&mut policy);
        changed.record_exists_action = action;
        changed.base_policy.filter_expression = filter;
        changed.base_policy.txn = self.transaction(context).cloned();
        if let Some(expiration) = expiration {
            changed.expiration = expiration;
        }
        if let Some(durable_delete) = durable_delete {
            changed.durable_delete = durable_delete;
        }
        if let Some(generation) = generation {
            changed.generation = generation;
            changed.generation_policy = GenerationPolicy::ExpectGenEqual;
        }
        policy
    }

    fn expiration(&self, segment: &Segment) -> Option<aerospike_core::Expiration> {
        if segment.verb.sets_expiration() { segment.expiration.or_else(|| self.default_expiration()) } else { None }
    }
}

/// The command of a chain about one record.
#[allow(clippy::type_complexity)] // what a closure is cannot be named
fn single(
    py: Python<'_>,
    context: &Context,
    chain: &mut Chain,
    judge: Judge,
    surface: Surface,
    terminal: TerminalKind,
) -> PyResult<Single<impl FnOnce(&Call, &mut Vec<u8>) -> PyResult<()> + use<>>> {
    let Chain { target: Target::Keys { last: segment, .. }, whole, .. } = &mut *chain else { return Err(empty(py)) };
    let (verb, becomes, operate) = (segment.verb, segment.becomes(), segment.operate());
    let core = &context.core;
    let policy = if verb.writes() {
        PolicyRef::Write(core.writes_by(whole.write_policy(context, segment)))
    } else {
        PolicyRef::Read(core.reads_by(whole.read_policy(context, segment)))
    };
    // Taken out of where they stand, one by one: the chain is large.
    let (ops, projection) = (std::mem::take(&mut segment.ops), std::mem::take(&mut segment.projection));
    let key = segment.keys.take_first();
    chain.target = Target::Taken;
    let one = SingleCall { verb, operate, surface, terminal };
    let outcome = Some(if judge.is_plain() {
        HandlerRef::Shared(&ALL[one.place()])
    } else {
        HandlerRef::Own(Box::new(JudgedCall { one, judge }))
    });
    let call = Call { key, policy, writes: verb.writes(), becomes, outcome };
    let timeout = call.policy.server_timeout_ms();
    let encode = move |Call { key, policy, .. }: &Call, out: &mut Vec<u8>| match policy {
        PolicyRef::Read(policy) => {
            let base = &policy.base_policy;
            let (header, ops) = match verb {
                Verb::Exists => (read_header(base, info1::READ | info1::NO_BIN_DATA, 0, timeout), Ops::default()),
                _ if ops.is_empty() => {
                    let (what, ops) = projection.asked();
                    (read_header(base, info1::READ | what, 0, timeout), ops)
                }
                _ => {
                    let asked = ops.asked;
                    let each = asked.all_answers && asked.reads & info1::GET_ALL == 0;
                    let info2 = if each { info2::RESPOND_ALL_OPS } else { 0 };
                    (read_header(base, asked.reads, info2, timeout), ops)
                }
            };
            let written = request::encoded(base, &header, (key.get(), false), &ops.raw, out);
            ops.recycle();
            written
        }
        PolicyRef::Write(policy) => {
            let base = &policy.base_policy;
            match verb {
                Verb::Delete => request::delete(policy, key.get(), timeout, out),
                Verb::Touch => request::touch(policy, key.get(), timeout, out),
                _ => {
                    let header = if ops.results {
                        operate_header(policy, ops.asked, timeout)
                    } else {
                        write_header(policy, 0, info2::WRITE, false, timeout)
                    };
                    let written = request::encoded(base, &header, (key.get(), policy.send_key), &ops.raw, out);
                    ops.recycle();
                    written
                }
            }
        }
    };
    Ok(Single { call, encode })
}

impl Chain {
    /// Whether its last operation applies a function.
    fn applies_function(&self) -> bool {
        matches!(&self.target, Target::Keys { last, .. } if last.function.is_some())
    }

    /// The function of a chain that applies one to one record.
    fn only_function(
        &mut self,
        py: Python<'_>,
        context: &Context,
    ) -> Option<(Box<Function>, Py<Key>, Arc<WritePolicy>)> {
        let Target::Keys { last, .. } = &mut self.target else { return None };
        let function = last.function.take()?;
        let Target::Keys { last: mut segment, .. } = std::mem::replace(&mut self.target, Target::Taken) else {
            return None;
        };
        let key = segment.keys.first().clone_ref(py);
        let policy = self.whole.write_policy(context, &mut segment);
        Some((function, key, policy))
    }
}

/// Applies a function to one record.
#[allow(clippy::too_many_arguments)] // what a call of it is made of
fn apply(
    py: Python<'_>,
    core: &Arc<crate::core::ClientCore>,
    function: Function,
    key: Py<Key>,
    policy: Arc<WritePolicy>,
    judge: Judge,
    surface: Surface,
    terminal: TerminalKind,
) -> PyResult<Py<PyAny>> {
    let of = key.clone_ref(py);
    let executable = udf::applying(py, core, of.get(), function, policy, move |py, returned| {
        let outcome = match returned {
            Ok(value) => Outcome::Value(value),
            Err(error) => Outcome::Failed(error),
        };
        let row = Row { key: Some(key), index: 0, outcome };
        terminal.make(py, surface, Source::One(judge.admit(py, Verb::Udf, row)?))
    })?;
    surface.carry_out(py, core, executable)
}

/// Rows of a chain that come from one operation of it.
pub(super) struct Part {
    pub(super) verb: Verb,
    pub(super) operate: Option<bool>,
    pub(super) rows: usize,
}

/// A chain about several records, encoded.
pub(super) struct Several {
    pub(super) policy: Arc<BatchPolicy>,
    /// Batches that are carried out one after the other.
    pub(super) runs: Vec<Rows>,
    pub(super) parts: Vec<Part>,
    implicit: Option<Implicit>,
}

/// Encodes a chain about several records. `exists_has_records`: the results of its `exists`, too, have records.
fn several(py: Python<'_>, context: &Context, mut chain: Chain, exists_has_records: bool) -> PyResult<Several> {
    let Target::Keys { before: mut segments, last } = std::mem::replace(&mut chain.target, Target::Taken) else {
        return Err(empty(py));
    };
    segments.push(last);
    let writes = segments.iter().any(|segment| segment.verb.writes());
    let namespace = segments[0].keys.first().get().namespace();
    let mut policy = context.batch(namespace, writes, chain.whole.transaction(context));
    if let Some(given) = chain.whole.reads_by().filter(|_| !writes) {
        let base = &mut Arc::make_mut(&mut policy).base_policy;
        *base = given.base_policy.clone();
        chain.whole.join(context, base);
    }
    let implicit = implicit(context, &chain, &segments);
    let mut parts = Vec::with_capacity(segments.len());
    let mut runs = Vec::with_capacity(1);
    let mut rows = Rows::with_capacity(segments.iter().map(|segment| segment.keys.len()).sum());
    let mut seen = HashSet::new();
    let repeats = segments.len() > 1;
    for segment in segments {
        if repeats {
            // The server carries out the rows of a batch in any order: what follows on the same record goes into the next one.
            let of = |key: &Py<Key>| (key.get().namespace().to_owned(), *key.get().digest());
            if segment.keys.iter().any(|key| seen.contains(&of(key))) {
                runs.push(std::mem::replace(&mut rows, Rows::with_capacity(segment.keys.len())));
                seen.clear();
            }
            seen.extend(segment.keys.iter().map(of));
        }
        // These rows have a generation, which is given as that of a record without bins.
        let has_record = match segment.verb {
            Verb::Delete | Verb::Touch => true,
            Verb::Exists => exists_has_records,
            _ => false,
        };
        let (verb, operate) = (segment.verb, segment.operate().or(has_record.then_some(false)));
        parts.push(Part { verb, operate, rows: segment.keys.len() });
        let (shape, keys) = chain.shape(context, &policy, segment).map_err(|e| errors::to_py(py, &e))?;
        rows.shape(shape);
        let operate = operate == Some(true);
        match keys {
            Keys::One(key) => rows.push(RowKey { key, operate }),
            Keys::Many(keys) => keys.into_iter().for_each(|key| rows.push(RowKey { key, operate })),
        }
    }
    runs.push(rows);
    Ok(Several { policy, runs, parts, implicit })
}

impl Several {
    /// The command that carries it out as a whole.
    fn command(self, judge: Judge, surface: Surface, terminal: TerminalKind) -> impl Executable + use<> {
        let Self { policy, runs, parts, implicit } = self;
        let in_txn = policy.base_policy.txn.is_some() || implicit.is_some();
        let convert = move |py: Python<'_>, mut ran: Vec<Ran>| {
            if matches!(judge.on_error, OnError::InStream)
                && ran.len() == 1
                && let Some(Ran { rows, .. }) = ran.pop_if(|ran| ran.result.is_ok())
            {
                return terminal.make(py, surface, Source::Batch(Box::new(Answers::new(rows, parts, judge))));
            }
            let mut admitted = Vec::with_capacity(parts.iter().map(|part| part.rows).sum());
            let mut index = 0;
            let mut of_rows = parts.iter().flat_map(|part| std::iter::repeat_n((part.verb, part.operate), part.rows));
            let mut failed = None;
            for Ran { mut rows, result, refused } in ran {
                let answered = (0..rows.len()).any(|row| is_answered(&rows.outcome(row)));
                // What was not carried out at all has the same error in each of its rows.
                let whole = result.err().filter(|_| refused || !answered);
                if let Some(error) = &whole
                    && (refused || in_txn || matches!(judge.on_error, OnError::Raise))
                {
                    // A transaction is carried out as a whole, or fails as a whole.
                    return Err(errors::to_py(py, error));
                }
                rows.drain(|key, outcome| {
                    let Some((verb, operate)) = of_rows.next().filter(|_| failed.is_none()) else { return };
                    let outcome = match (Outcome::of(&outcome, verb, operate), &whole) {
                        (Outcome::Failed(own), Some(error)) if own.server_result_code().is_none() => {
                            Outcome::Failed(error.clone())
                        }
                        (outcome, _) => outcome,
                    };
                    match judge.admit(py, verb, Row { key: Some(key.key), index, outcome }) {
                        Ok(row) => admitted.extend(row),
                        Err(error) => failed = Some(error),
                    }
                    index += 1;
                });
            }
            match failed {
                Some(error) => Err(error),
                None => terminal.make(py, surface, Source::Rows(admitted.into_iter())),
            }
        };
        Batches { policy, runs, implicit, convert }
    }
}

/// How a chain that writes becomes a transaction of its own: when it is about several records of one strongly consistent
/// namespace, and says nothing of transactions itself.
fn implicit(context: &Context, chain: &Chain, segments: &[Segment]) -> Option<Implicit> {
    /// Servers have transactions since then.
    const SINCE: Version = Version::new(8, 0, 0);
    let Context { core, behavior, .. } = context;
    let outside = !chain.whole.txn.is_own() && chain.whole.transaction(context).is_none();
    let writes = segments.iter().any(|segment| segment.verb.writes());
    let first = segments[0].keys.first().get();
    if !(outside && writes) || core.mode(first.namespace()) != Some(true) {
        return None;
    }
    let rules = core.transaction_rules();
    let mut keys = segments.iter().flat_map(|segment| segment.keys.iter().map(Py::get));
    let several = keys.clone().any(|key| key.digest() != first.digest());
    let one_namespace = keys.all(|key| key.namespace() == first.namespace());
    if !(rules.implicit_batch_writes && several && one_namespace) || context.oldest_server() < Some(SINCE) {
        return None;
    }
    let settings = behavior.get().policies();
    Some(Implicit {
        attempts: rules.attempts,
        pause: rules.sleep_between_attempts,
        verify: settings.txn_verify_policy(),
        roll: settings.txn_roll_policy(),
    })
}

impl Chain {
    /// What the rows of an operation do, and their keys.
    fn shape(
        &self,
        context: &Context,
        batch: &BatchPolicy,
        mut segment: Segment,
    ) -> aerolane::Result<(RawShape, Keys)> {
        let filter_expression = segment.filter.take().map(|filter| *filter).or_else(|| self.whole.default_filter());
        let single = context.write_of_batch(segment.keys.first().get());
        let durable_delete =
            segment.durable_delete.or_else(|| self.whole.default_durable_delete()).unwrap_or(single.durable_delete);
        let (generation_policy, generation) = match segment.generation {
            None => (GenerationPolicy::None, 0),
            Some(generation) => (GenerationPolicy::ExpectGenEqual, generation),
        };
        let (verb, expiration) = (segment.verb, self.whole.expiration(&segment));
        let keys = std::mem::replace(&mut segment.keys, Keys::Many(Vec::new()));
        let reading = BatchReadPolicy {
            read_touch_ttl: batch.base_policy.read_touch_ttl,
            filter_expression: filter_expression.clone(),
        };
        let writing = BatchWritePolicy {
            record_exists_action: verb.action(),
            generation_policy,
            generation,
            commit_level: single.commit_level,
            expiration: expiration.unwrap_or(single.expiration),
            send_key: single.send_key,
            durable_delete,
            filter_expression: filter_expression.clone(),
            ..BatchWritePolicy::default()
        };
        let shape = match verb {
            Verb::Query if segment.ops.is_empty() => {
                let (what, ops) = segment.projection.asked();
                RawShape::read(batch, &reading, what, ops.raw)?
            }
            Verb::Query => {
                let ops = segment.ops;
                RawShape::read(batch, &reading, ops.asked.reads, ops.raw)?.answering_each()
            }
            Verb::Udf => {
                let applying = BatchUdfPolicy {
                    commit_level: single.commit_level,
                    expiration: expiration.unwrap_or(single.expiration),
                    send_key: single.send_key,
                    durable_delete,
                    filter_expression,
                    ..BatchUdfPolicy::default()
                };
                let none = || Error::client_error("there is no function to apply");
                let function = segment.function.as_deref().ok_or_else(none)?;
                RawShape::udf(batch, &applying, (&function.package, &function.name), &function.arguments)?
            }
            Verb::Exists => RawShape::read(batch, &reading, info1::NO_BIN_DATA, Ops::default().raw)?,
            Verb::Delete => {
                let deleting = BatchDeletePolicy {
                    generation_policy,
                    generation,
                    commit_level: single.commit_level,
                    send_key: single.send_key,
                    durable_delete,
                    filter_expression,
                };
                RawShape::delete(batch, &deleting)?
            }
            Verb::Touch => {
                let mut ops = Ops::default().raw;
                ops.push(op::TOUCH, particle_type::NIL, b"", |_| Ok::<_, WireError>(()))
                    .map_err(|error| Error::client_error(format!("a touch cannot be encoded: {error}")))?;
                RawShape::write(batch, &writing, 0, ops)?
            }
            _ => RawShape::write(batch, &writing, segment.ops.asked.reads, segment.ops.raw)?,
        };
        Ok((shape, keys))
    }
}

/// Starts the query of a data set.
fn dataset(
    py: Python<'_>,
    context: &Context,
    chain: &Chain,
    query: &Query,
    surface: Surface,
    terminal: TerminalKind,
) -> PyResult<Py<PyAny>> {
    let core = &context.core;
    if matches!(chain.whole.txn, Membership::Own(Some(_))) {
        let text = "a query of a data set is not part of transactions: leave with_txn() out, or call with_txn(None)";
        return Err(errors::invalid_argument(py, text));
    }
    if query.writes.is_some() {
        let text = "with_write_operations() goes with execute_background_task(): a query that is executed only reads";
        return Err(errors::invalid_argument(py, text));
    }
    let mut policy = query.policy(context.query(query.namespace()), chain.whole.default_filter());
    let most = match terminal {
        // One record of all would do: one of each node cannot be told from it.
        TerminalKind::First | TerminalKind::FirstOrRaise => query.most().or(Some(1)),
        TerminalKind::Stream | TerminalKind::Live => query.chunk_size.or(query.most()),
    };
    Arc::make_mut(&mut policy).max_records = most.unwrap_or(0);
    let filter = match &query.partitions {
        Some(filter) => filter.clone_ref(py),
        None => Py::new(py, PartitionFilter::all())?,
    };
    if let Some(text) = query.contradiction() {
        return Err(errors::invalid_argument(py, text));
    }
    let (asked, wanted, of_plan) = (query.asked(), query.wanted(context), Arc::clone(core));
    let planned = async move {
        match wanted {
            Some(wanted) => wanted.plan(of_plan, asked, policy).await,
            None => Ok((asked, policy)),
        }
    };
    let (again, partitions) = (Arc::clone(core), filter.clone_ref(py));
    if matches!(terminal, TerminalKind::Stream | TerminalKind::Live) {
        let (chunk_size, limit) = (query.chunk_size, query.most());
        let executable = query::read_planned(py, core, planned, filter.bind(py), move |py, records, asked, policy| {
            let chunks = Chunks::new(again, asked, policy, partitions, chunk_size, limit);
            surface.stream(py, || Source::Records(Box::new(chunks.with(py, records))))
        })?;
        return surface.carry_out(py, core, executable);
    }
    let first = query::first(py, core, planned, filter.bind(py), move |py, record| {
        terminal.make(py, surface, Source::One(record.map(|record| Row::of_query(py, record))))
    })?;
    surface.carry_out(py, core, first)
}
