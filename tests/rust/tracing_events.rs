//! What a `tracing` subscriber gets: retries, closed connections, slow operations and spans, through every client type. A program
//! of its own, because a subscriber is for the whole process.

#[path = "common/mod.rs"]
mod common;
#[path = "common/poll_loop.rs"]
mod poll_loop;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use aerolane::raw::{RawCall, RawClient};
use aerolane::{
    AuthMode, BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, ClientConfig, Key, LaneRuntime, ReadPolicy,
    SyncClient, Value, WritePolicy, as_bin, as_key,
};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::conditions::{Conditions, ServiceKind};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use common::{Patient, Target, policy};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// The fields of a span or an event, the text of an event under `message`.
type Fields = BTreeMap<String, String>;

/// All events of the client with the name of the span that they are in, and all its spans that have ended.
static EVENTS: Mutex<Vec<(Fields, Option<&str>)>> = Mutex::new(Vec::new());
static SPANS: Mutex<Vec<Fields>> = Mutex::new(Vec::new());

struct Keep;

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Keep {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Into(&mut fields));
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        record.record(&mut Into(span.extensions_mut().get_mut().unwrap()));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        if span.metadata().target().starts_with("aerolane::") {
            let fields = span.extensions_mut().remove::<Fields>().unwrap();
            SPANS.lock().unwrap().push(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !event.metadata().target().starts_with("aerolane::") {
            return;
        }
        let mut fields = Fields::from([("level".to_owned(), event.metadata().level().to_string())]);
        event.record(&mut Into(&mut fields));
        EVENTS.lock().unwrap().push((fields, context.lookup_current().map(|span| span.metadata().target())));
    }
}

fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing_subscriber::registry().with(Keep).init());
}

/// The events with this text and these fields.
fn events(message: &str, with: &[(&str, &str)]) -> Vec<(Fields, Option<&'static str>)> {
    let has = |fields: &Fields| with.iter().all(|(name, value)| fields.get(*name).is_some_and(|is| is == value));
    let all = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter(|(fields, _)| fields["message"] == message && has(fields)).cloned().collect()
}

/// The spans about this set.
fn spans(set: &str) -> Vec<Fields> {
    SPANS.lock().unwrap().iter().filter(|span| span["db.collection.name"] == set).cloned().collect()
}

const SLOW: Duration = Duration::from_millis(20);

/// A cluster of which a read takes longer than [`SLOW`].
fn slow_reads() -> (EmbeddedCluster, ClientConfig) {
    let time = || "30ms".parse().unwrap();
    let conditions = Conditions::new().service_time(ServiceKind::Read, time()).service_time(ServiceKind::Batch, time());
    let cluster = EmbeddedCluster::builder().user("ada", "open-sesame").conditions(conditions).start().unwrap();
    let mut policy = policy();
    policy.auth_mode = AuthMode::Internal("ada".into(), "open-sesame".into());
    (cluster, ClientConfig::from(policy).with_slow_operation_threshold(SLOW))
}

fn key(set: &str) -> Key {
    as_key!("test", set, "key-of-alice")
}

/// One slow operation about this set was logged, with all that there is to say.
fn is_logged(set: &str, command: &str, rows: Option<&str>) {
    let found = events("slow operation", &[("set", set), ("command", command)]);
    let [(event, _)] = &found[..] else { panic!("{set}, {command}: {found:#?}") };
    assert_eq!((&*event["level"], &*event["namespace"], &*event["attempts"]), ("WARN", "test", "1"), "{event:?}");
    assert_eq!((&*event["phase"], &*event["result_code"]), ("answered", "0"), "{event:?}");
    assert_eq!(event.get("rows").map(String::as_str), rows);
    assert!(event["node"].contains(": 127.0.0.1:"), "{event:?}");
    assert!(event["elapsed_us"].parse::<u128>().unwrap() >= SLOW.as_micros(), "{event:?}");
}

fn tells_no_secrets() {
    let all = format!("{:?} {:?}", EVENTS.lock().unwrap(), SPANS.lock().unwrap());
    for secret in ["open-sesame", "swordfish", "key-of-alice"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_operations_of_all_client_types_are_logged() {
    subscribe();
    let (cluster, config) = slow_reads();
    let (read, bins) = (ReadPolicy::patient(), [as_bin!("secret", "swordfish")]);
    let client = Client::with_config(config.clone(), &cluster.seeds()).await.unwrap();
    for set in ["async", "local", "sync", "raw", "resumed", "rows"] {
        client.put(&WritePolicy::patient(), &key(set), &bins).await.unwrap();
    }

    client.get(&read, &key("async"), Bins::All).await.unwrap();
    is_logged("async", "Get", None);

    let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
    let patient = read.clone();
    lanes.spawn(|client| async move { client.exists(&patient, &key("local")).await }).await.unwrap().unwrap();
    is_logged("local", "Exists", None);

    let policy = BatchPolicy::patient();
    let mut rows = ["rows", "others"].map(|set| BatchOperation::read(&BatchReadPolicy::default(), key(set), Bins::All));
    client.batch(&policy, &mut rows).await.unwrap();
    is_logged("rows", "BatchRead", Some("2"));

    let raw = RawClient::from(&client);
    let by_thread = std::thread::spawn(move || {
        SyncClient::from(&raw.asynchronous()).get(&read, &key("sync"), Bins::All).unwrap();
        is_logged("sync", "Get", None);
        let partition = aerolane_wire::digest::partition_id(&key("raw").digest());
        let kind = aerolane::CommandType::Get;
        let call = RawCall { namespace: "test", set: "raw", partition, kind, writes: false, may_be_missing: false };
        let mut request = Vec::new();
        let base = &read.base_policy;
        aerolane::raw::command::encode::read(base, &key("raw"), &Bins::All, 0, &mut request).unwrap();
        raw.call_blocking(base, call, &request, |_| ()).unwrap();
        is_logged("raw", "Get", None);
        // A call that begins on the lane of an event loop.
        let call = RawCall { set: "begun", ..call };
        let begun = raw.begin(base, call, Instant::now()).unwrap();
        std::thread::sleep(SLOW);
        let answer = [22, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        raw.accept(call, &begun, (&answer[..]).into(), |_| ()).unwrap();
        is_logged("begun", "Get", None);
    });
    by_thread.join().unwrap();

    // Failures are slow operations, too; their text is not logged.
    cluster.set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read)).unwrap();
    let mut short = ReadPolicy::default();
    short.base_policy.total_timeout = 50;
    assert!(client.get(&short, &key("stalled"), Bins::All).await.is_err());
    let found = events("slow operation", &[("set", "stalled")]);
    assert_eq!((found.len(), &*found[0].0["phase"], &*found[0].0["result_code"]), (1, "sent", "9"), "{found:?}");
    tells_no_secrets();
}

#[test]
fn without_a_threshold_nothing_is_slow() {
    subscribe();
    let (cluster, config) = slow_reads();
    let config = config.with_slow_operation_threshold(None);
    let client = SyncClient::with_config(config, &cluster.seeds()).unwrap();
    let _ = client.get(&ReadPolicy::patient(), &key("not-watched"), Bins::All);
    assert_eq!(events("slow operation", &[("set", "not-watched")]), []);
    assert!(spans("not-watched").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_say_where_a_call_went_and_how_it_ended() {
    subscribe();
    let cluster = EmbeddedCluster::builder().start().unwrap();
    let config = ClientConfig::from(policy()).with_spans(true);
    let client = Client::with_config(config, &cluster.seeds()).await.unwrap();
    let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
    client.put(&write, &key("spans"), &[as_bin!("secret", "swordfish")]).await.unwrap();

    // The answer to the first attempt is lost.
    cluster.set_fault(None, &FaultRule::new(FaultAction::DropAfter).on(RequestKind::Read).times(1)).unwrap();
    client.get(&read, &key("spans"), Bins::All).await.unwrap();
    let missing = client.clone();
    let by_thread = std::thread::spawn(move || missing.sync().get(&read, &as_key!("test", "spans", 404), Bins::All));
    assert!(by_thread.join().unwrap().is_err());
    let invalid = client.add(&write, &key("spans"), &[as_bin!("secret", 1)]).await.unwrap_err();
    let mut rows = [BatchOperation::read(&BatchReadPolicy::default(), key("spans"), Bins::All)];
    client.batch(&BatchPolicy::patient(), &mut rows).await.unwrap();

    let spans = spans("spans");
    let field = |name: &'static str| spans.iter().map(move |span| span.get(name).cloned().unwrap_or_default());
    let host = cluster.nodes()[0].address;
    assert!(field("otel.kind").all(|is| is == "client") && field("db.system.name").all(|is| is == "aerospike"));
    assert!(field("db.namespace").all(|is| is == "test") && field("server.address").all(|is| is == "127.0.0.1"));
    assert!(field("server.port").all(|is| is == host.port().to_string()), "{spans:#?}");
    assert_eq!(field("otel.name").collect::<Vec<_>>()[..2], ["Put test.spans", "Get test.spans"]);
    let names: Vec<_> = field("db.operation.name").collect();
    assert_eq!(names, ["Put", "Get", "Get", "Put", "BatchRead"]);
    assert_eq!(field("aerolane.attempts").collect::<Vec<_>>(), ["1", "2", "1", "1", "1"]);
    let code = invalid.result_code().to_string();
    assert_eq!(field("db.response.status_code").collect::<Vec<_>>(), ["0", "0", "2", &code, "0"]);
    assert_eq!(field("error.type").collect::<Vec<_>>(), ["", "", "", "Server", ""]);
    assert_eq!(field("otel.status_code").collect::<Vec<_>>(), ["", "", "", "ERROR", ""]);
    assert_eq!(field("db.operation.batch.size").collect::<Vec<_>>(), ["", "", "", "", "1"]);

    // The retry is an event of its call.
    let retried = events("call is retried", &[("set", "spans"), ("namespace", "test"), ("command", "Get")]);
    assert_eq!((retried.len(), retried[0].1), (1, Some("aerolane::operation")), "{retried:?}");
    tells_no_secrets();
}

/// Why connections are closed is logged by all drivers; the event loop of this test is [`poll_loop`].
#[test]
fn close_reasons_are_logged() {
    subscribe();
    let target = Target::embedded(1);
    let node = |client: &RawClient| {
        let topology = client.cluster().topology();
        topology.active_nodes().next().unwrap().label().to_string()
    };
    let blocking = SyncClient::new(&policy(), target.seeds()).unwrap();
    let label = node(&RawClient::from(&blocking));
    blocking.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("v", 1)]).unwrap();
    let closed = |reason: &str| {
        let all = events("connection closed", &[("node", &label), ("level", "DEBUG")]);
        all.iter().filter(|(fields, _)| fields["reason"].starts_with(reason)).count()
    };

    let lose = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Read).times(1);
    target.faults().set_fault(None, &lose).unwrap();
    blocking.get(&ReadPolicy::patient(), &target.key(1), Bins::All).unwrap();
    assert_eq!(closed("lost: "), 1);
    let retried = events("call is retried", &[("set", target.set()), ("namespace", "test")]);
    assert_eq!(retried.len(), 1);

    // A batch names the set of its first row.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::DropAfter).on(RequestKind::Batch).times(1)).unwrap();
    let read = BatchReadPolicy::default();
    let mut rows = [1, 2].map(|n| BatchOperation::read(&read, target.key(n), Bins::All));
    blocking.batch(&BatchPolicy::patient(), &mut rows).unwrap();
    assert_eq!(events("call is retried", &[("set", target.set()), ("command", "BatchRead")]).len(), 1);
    assert_eq!(closed("lost: "), 2);

    // An answer that is not waited for.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read).times(1)).unwrap();
    let mut short = ReadPolicy::default();
    (short.base_policy.total_timeout, short.base_policy.max_retries) = (50, 0);
    assert!(blocking.get(&short, &target.key(1), Bins::All).is_err());
    assert_eq!(closed("an answer that nobody waits for may still come"), 1);
    target.faults().clear_faults();

    let before = closed("closed by the client");
    blocking.get(&ReadPolicy::patient(), &target.key(1), Bins::All).unwrap();
    blocking.close().unwrap();
    assert!(closed("closed by the client") > before);

    // An event loop.
    let mut host = poll_loop::Loop::new(&target);
    host.put(1, &target.key(3), Value::Int(3));
    host.turn_until("it is written", |host| host.outcomes.0.len() == 1);
    let before = closed("lost: ");
    target.faults().set_fault(None, &lose).unwrap();
    host.get(2, &target.key(3), 60_000);
    host.turn_until("the connection is lost", |host| host.outcomes.0.len() == 2);
    assert_eq!(closed("lost: "), before + 1);
    let before = closed("closed by the client");
    host.turn_until("another connection is open", |host| !host.watched.is_empty());
    let poll_loop::Loop { driver, outcomes, .. } = &mut host;
    driver.close(outcomes);
    assert!(closed("closed by the client") > before);
}
