//! Indexes of all kinds, functions, users and roles, and what else there is beside records, through the async and the
//! blocking client. What they find wrong is in `invalid_arguments.rs`; the same calls from Python are in
//! `tests/python/test_index.py`, `test_udf.py` and `test_admin.py`.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use crate::common::{Patient, Target, policy};
use aerolane::expressions::{gt, int_bin, int_val, num_add};
use aerolane::query::Filter;
use aerolane::task::Status as TaskStatus;
use aerolane::{
    AdminPolicy, AuthMode, Bins, Client, ClientPolicy, CollectionIndexType, Error, IndexType, Key, PartitionFilter,
    Privilege, PrivilegeCode, QueryPolicy, ReadPolicy, Record, ResultCode, Statement, SyncClient, Task as _, UdfLang,
    Value, WritePolicy, as_bin,
};
use aerolane_embedded::EmbeddedCluster;
use aerospike_core::operations::cdt_context::ctx_map_key;
use futures::StreamExt as _;
use futures::future::join_all;

const N: i64 = 60;

async fn records(client: &Client, statement: Statement) -> Vec<Record> {
    let found = client.query(&QueryPolicy::patient(), PartitionFilter::all(), statement).await.unwrap();
    found.into_stream().map(|record| record.unwrap()).collect().await
}

fn records_here(client: &SyncClient, statement: Statement) -> Vec<Record> {
    let found = client.query(&QueryPolicy::patient(), PartitionFilter::all(), statement).unwrap();
    found.map(|record| record.unwrap()).collect()
}

/// The values of bin `n`, in order.
fn numbers(records: &[Record]) -> Vec<i64> {
    let number = |record: &Record| match record.bins["n"] {
        Value::Int(n) => n,
        ref other => panic!("{other:?}"),
    };
    let mut numbers: Vec<_> = records.iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Starts a task with an async or a blocking client.
macro_rules! started {
    ($task:expr, (.await)) => {
        $task.await.unwrap()
    };
    ($task:expr, ()) => {
        $task.unwrap()
    };
}

/// Waits for tasks that were started, for all at the same time: each takes a second at least.
macro_rules! ended {
    ($client:ident, $tasks:expr, (.await)) => {{
        let ends = $tasks.iter().map(|task| task.wait_till_complete(Some(Duration::from_secs(30))));
        join_all(ends).await.into_iter().for_each(|end| assert_eq!(end.unwrap(), TaskStatus::Complete))
    }};
    ($client:ident, $tasks:expr, ()) => {{
        let ends = $tasks.iter().map(|task| task.wait_till_complete(Some(Duration::from_secs(30))));
        $client
            .block_on(join_all(ends))
            .unwrap()
            .into_iter()
            .for_each(|end| assert_eq!(end.unwrap(), TaskStatus::Complete))
    }};
}

/// Waits for one task.
macro_rules! finish {
    ($client:ident, $task:expr, (.await)) => {
        $task.await.unwrap().wait_till_complete(Some(Duration::from_secs(30))).await.unwrap()
    };
    ($client:ident, $task:expr, ()) => {
        $client.wait_for(&$task.unwrap(), Some(Duration::from_secs(30))).unwrap()
    };
}

macro_rules! indexes {
    ($client:expr, $target:expr, $wait:tt, |$statement:ident| $records:expr) => {{
        let (client, target, admin) = (&$client, &$target, AdminPolicy::patient());
        let (namespace, set) = (target.namespace(), target.set());
        let names = ["n", "s", "g", "l", "k", "c", "e", "all"].map(|name| format!("{set}_{name}"));
        let [n, s, g, l, k, c, e, all] = &names;
        let (plain, list, keys) =
            (CollectionIndexType::Default, CollectionIndexType::List, CollectionIndexType::MapKeys);
        let (numeric, text, sphere) = (IndexType::Numeric, IndexType::String, IndexType::Geo2DSphere);
        let within = [ctx_map_key("x".into())];
        let mut tasks = Vec::new();
        for (name, bin, kind, collection, context) in [
            (n, "n", numeric.clone(), plain.clone(), None),
            (s, "s", text.clone(), plain.clone(), None),
            (g, "g", sphere, plain.clone(), None),
            (l, "l", numeric.clone(), list.clone(), None),
            (k, "m", text, keys.clone(), None),
            (c, "m", numeric.clone(), plain.clone(), Some(&within[..])),
        ] {
            let task = client.create_index_on_bin(&admin, namespace, set, bin, name, kind, collection, context);
            tasks.push(started!(task, $wait));
        }
        let sum = num_add(vec![int_bin("n"), int_val(1000)]);
        let task = client.create_index_using_expression(&admin, namespace, set, e, numeric, plain, &sum);
        tasks.push(started!(task, $wait));
        tasks.push(started!(client.create_set_index(&admin, namespace, set, all), $wait));
        ended!(client, tasks, $wait);

        let statement = || Statement::new(namespace, set, Bins::All);
        for (filter, expected) in [
            (None, (0..N).collect()),
            (Some(Filter::range("n", 10, 12)), vec![10, 11, 12]),
            (Some(Filter::equal_by_index(n.as_str(), 7)), vec![7]),
            (Some(Filter::equal("s", "text 5")), vec![5]),
            (Some(Filter::geo_within_radius("g", 20.0, 10.0, 1000.0)), vec![20]),
            (Some(Filter::contains("l", 5, list)), vec![4, 5]),
            (Some(Filter::contains("m", "key 9", keys)), vec![9]),
            (Some(Filter::equal("m", 8).context(within.to_vec())), vec![8]),
            (Some(Filter::equal_by_index(e.as_str(), 1003)), vec![3]),
        ] {
            let name = format!("{filter:?}");
            let mut $statement = statement();
            if let Some(filter) = filter {
                $statement.set_filter(filter);
            }
            assert_eq!(numbers(&$records), expected, "{name}");
        }
        let mut tasks = Vec::new();
        for name in &names {
            tasks.push(started!(client.drop_index(&admin, namespace, set, name), $wait));
        }
        ended!(client, tasks, $wait);
        let mut $statement = statement();
        $statement.set_filter(Filter::equal("s", "text 5"));
        $statement
    }};
}

fn fill(client: &SyncClient, target: &Target) {
    for n in 0..N {
        let point = format!(r#"{{"type":"Point","coordinates":[{n},{}]}}"#, n / 2);
        let map = [(Value::from("x"), n.into()), (format!("key {n}").into(), Value::from("y"))];
        let bins = [
            as_bin!("n", n),
            as_bin!("s", format!("text {n}")),
            as_bin!("g", Value::GeoJson(point)),
            as_bin!("l", Value::List(vec![n.into(), (n + 1).into()])),
            as_bin!("m", Value::HashMap(map.into_iter().collect())),
        ];
        client.put(&WritePolicy::patient(), &target.key(n), &bins).unwrap();
    }
}

fn no_index(error: &Error) {
    assert_eq!(error.server_result_code(), Some(ResultCode::IndexNotFound), "{error:?}");
}

#[test]
fn indexes_of_all_kinds() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    fill(&client, &target);
    let gone = indexes!(client, target, (), |statement| records_here(&client, statement));
    let mut found = client.query(&QueryPolicy::patient(), PartitionFilter::all(), gone).unwrap();
    no_index(&found.next().unwrap().unwrap_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_of_all_kinds_async() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    tokio::task::block_in_place(|| fill(&client.sync(), &target));
    let gone = indexes!(client, target, (.await), |statement| records(&client, statement).await);
    let found = client.query(&QueryPolicy::patient(), PartitionFilter::all(), gone).await.unwrap();
    let error = found.into_stream().next().await.unwrap().unwrap_err();
    no_index(&error);
}

const SOURCE: &str = "function mark(rec, by)\n  rec.mark = by\n  aerospike:update(rec)\n  return rec.n + by\nend\n";

macro_rules! functions {
    ($client:expr, $target:expr, $wait:tt, ($($await:tt)*), |$statement:ident| $records:expr) => {{
        let (client, target, admin, write) = (&$client, &$target, AdminPolicy::patient(), WritePolicy::patient());
        let (first, second) = (format!("{}_a", target.set()), format!("{}_b", target.set()));
        let mut file = std::env::temp_dir();
        file.push(format!("{second}.lua"));
        std::fs::File::create(&file).unwrap().write_all(SOURCE.as_bytes()).unwrap();
        let paths = [format!("{first}.lua"), format!("{second}.lua")];
        finish!(client, client.register_udf(&admin, SOURCE.as_bytes(), &paths[0], UdfLang::Lua), $wait);
        let task = client.register_udf_from_file(&admin, file.to_str().unwrap(), &paths[1], UdfLang::Lua);
        finish!(client, task, $wait);
        std::fs::remove_file(&file).unwrap();
        for module in [&first, &second] {
            let answer = client.execute_udf(&write, &target.key(5), module, "mark", &[Value::Int(100)])$($await)*;
            assert_eq!(answer.unwrap(), Some(Value::Int(105)));
        }
        let known = Key::with_digest(target.namespace(), target.set(), None, target.key(6).digest());
        let answer = client.execute_udf(&write, &known, &first, "mark", &[Value::Int(100)])$($await)*;
        assert_eq!(answer.unwrap(), Some(Value::Int(106)));

        // In the background: a function, and operations, on what a filter leaves.
        let statement = || Statement::new(target.namespace(), target.set(), Bins::All);
        let mut few = write.clone();
        few.base_policy.filter_expression = Some(gt(int_bin("n"), int_val(N - 11)));
        let task = client.query_execute_udf(&few, statement(), &first, "mark", &[Value::Int(7)]);
        finish!(client, task, $wait);
        let mut operating = statement();
        operating.set_operations([aerolane::operations::put(&as_bin!("put", 1))]);
        finish!(client, client.query_operate(&few, operating), $wait);
        let $statement = statement();
        let found: Vec<Record> = $records;
        let with = |name: &str, value: i64| -> Vec<i64> {
            let has = |record: &Record| record.bins.get(name) == Some(&Value::Int(value));
            numbers(&found.iter().filter(|record| has(record)).cloned().collect::<Vec<_>>())
        };
        assert_eq!(with("mark", 7), (N - 10..N).collect::<Vec<_>>());
        assert_eq!(with("put", 1), (N - 10..N).collect::<Vec<_>>());
        assert_eq!(with("mark", 100), [5, 6]);

        for (module, path) in [&first, &second].into_iter().zip(&paths) {
            finish!(client, client.remove_udf(&admin, path), $wait);
            let error = client.execute_udf(&write, &target.key(5), module, "mark", &[])$($await)*.unwrap_err();
            assert_eq!(error.result_code(), i32::from(u8::from(ResultCode::UdfBadResponse)), "{error:?}");
        }
    }};
}

#[test]
fn functions_and_work_in_the_background() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    fill(&client, &target);
    functions!(client, target, (), (), |statement| records_here(&client, statement));
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_and_work_in_the_background_async() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    tokio::task::block_in_place(|| fill(&client.sync(), &target));
    functions!(client, target, (.await), (.await), |statement| records(&client, statement).await);
}

#[test]
fn truncation_spares_what_was_written_since() {
    // Its times are those of this machine.
    let target = Target::embedded(3);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let put = |id: i64| client.put(&WritePolicy::patient(), &target.key(id), &[as_bin!("n", id)]).unwrap();
    put(1);
    std::thread::sleep(Duration::from_millis(30));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    put(2);
    client.truncate(&AdminPolicy::patient(), target.namespace(), target.set(), now.as_nanos() as i64).unwrap();
    let there = |id: i64| client.exists(&ReadPolicy::patient(), &target.key(id)).unwrap();
    assert!(!there(1) && there(2));
    client.truncate(&AdminPolicy::patient(), target.namespace(), target.set(), 0).unwrap();
    assert!(!there(2));
}

#[test]
fn a_filter_of_replication_is_for_the_enterprise_edition() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let filter = gt(int_bin("n"), int_val(5));
    for filter in [None, Some(&filter)] {
        let refused = client.set_xdr_filter(&AdminPolicy::patient(), "elsewhere", target.namespace(), filter);
        let error = refused.unwrap_err();
        assert!(error.to_string().to_lowercase().contains("enterprise"), "{error:?}");
        assert!(!error.in_doubt() && !error.is_client_timeout(), "{error:?}");
    }
}

/// A cluster where one has to log in, as the administrator.
fn secured() -> (EmbeddedCluster, ClientPolicy) {
    let cluster = EmbeddedCluster::builder().nodes(2).user("admin", "secret").start().unwrap();
    (cluster, as_user("admin", "secret"))
}

fn as_user(user: &str, password: &str) -> ClientPolicy {
    ClientPolicy { auth_mode: AuthMode::Internal(user.to_owned(), password.to_owned()), ..policy() }
}

macro_rules! users {
    ($client:expr, ($($wait:tt)*)) => {{
        let (client, admin) = (&$client, AdminPolicy::patient());
        let scoped = Privilege::new(PrivilegeCode::ReadWrite, Some("test".to_owned()), Some("a".to_owned()));
        let privileges = [scoped.clone()];
        client.create_role(&admin, "writer", &privileges, &["127.0.0.0/8"], 100, 50)$($wait)*.unwrap();
        let again = client.create_role(&admin, "writer", &privileges, &[], 0, 0)$($wait)*.unwrap_err();
        assert_eq!(again.server_result_code(), Some(ResultCode::RoleAlreadyExists), "{again:?}");
        let more = [Privilege::new(PrivilegeCode::Truncate, None, None)];
        client.grant_privileges(&admin, "writer", &more)$($wait)*.unwrap();
        assert_eq!(client.query_roles(&admin, Some("writer"))$($wait)*.unwrap()[0].privileges.len(), 2);
        client.revoke_privileges(&admin, "writer", &more)$($wait)*.unwrap();
        client.set_quotas(&admin, "writer", 7, 8)$($wait)*.unwrap();
        client.set_allowlist(&admin, "writer", &["127.0.0.0/8", "10.0.0.0/8"])$($wait)*.unwrap();
        let role = client.query_roles(&admin, Some("writer"))$($wait)*.unwrap().remove(0);
        assert_eq!(role.privileges, privileges);
        assert_eq!((role.read_quota, role.write_quota), (7, 8));
        assert_eq!(role.allowlist, ["127.0.0.0/8", "10.0.0.0/8"]);

        client.create_user(&admin, "u", "first", &["writer"])$($wait)*.unwrap();
        client.grant_roles(&admin, "u", &["read", "sys-admin"])$($wait)*.unwrap();
        client.revoke_roles(&admin, "u", &["sys-admin"])$($wait)*.unwrap();
        client.change_password(&admin, "u", "second")$($wait)*.unwrap();
        let user = client.query_users(&admin, Some("u"))$($wait)*.unwrap().remove(0);
        assert_eq!((&*user.user, &user.roles[..]), ("u", &["read".to_owned(), "writer".to_owned()][..]));
        assert_eq!(client.query_users(&admin, None)$($wait)*.unwrap().len(), 2);
    }};
}

macro_rules! no_users {
    ($client:expr, ($($wait:tt)*)) => {{
        let (client, admin) = (&$client, AdminPolicy::patient());
        client.drop_user(&admin, "u")$($wait)*.unwrap();
        client.drop_role(&admin, "writer")$($wait)*.unwrap();
        let error = client.query_users(&admin, Some("u"))$($wait)*.unwrap_err();
        assert_eq!(error.server_result_code(), Some(ResultCode::InvalidUser), "{error:?}");
        let error = client.drop_role(&admin, "writer")$($wait)*.unwrap_err();
        assert_eq!(error.server_result_code(), Some(ResultCode::InvalidRole), "{error:?}");
        assert!(error.node().is_some() || error.base_message().contains("ole"), "{error:?}");
    }};
}

/// What the new user may do, on our own connections.
fn may(cluster: &EmbeddedCluster) {
    let seeds = cluster.seeds();
    let user = SyncClient::new(&as_user("u", "second"), &seeds).unwrap();
    let put = |set: &str| user.put(&WritePolicy::patient(), &aerolane::as_key!("test", set, 1), &[as_bin!("n", 1)]);
    put("a").unwrap();
    let error = put("b").unwrap_err();
    assert_eq!(error.server_result_code(), Some(ResultCode::RoleViolation), "{error:?}");
    let refused = user.create_user(&AdminPolicy::patient(), "w", "x", &[]).unwrap_err();
    assert_eq!(refused.server_result_code(), Some(ResultCode::RoleViolation), "{refused:?}");
    let error = SyncClient::new(&as_user("u", "first"), &seeds).map(drop).unwrap_err();
    assert!(
        error.to_string().to_lowercase().contains("credential") || error.to_string().contains("password"),
        "{error}"
    );
}

#[test]
fn users_and_roles() {
    let (cluster, policy) = secured();
    let client = SyncClient::new(&policy, &cluster.seeds()).unwrap();
    users!(client, ());
    may(&cluster);
    no_users!(client, ());
}

#[tokio::test(flavor = "multi_thread")]
async fn users_and_roles_async() {
    let (cluster, policy) = secured();
    let client = Client::new(&policy, &cluster.seeds()).await.unwrap();
    users!(client, (.await));
    tokio::task::block_in_place(|| may(&cluster));
    no_users!(client, (.await));
}

/// From 8.2 on, servers call an index on numbers `integer`, too; older ones refuse the name.
#[tokio::test]
async fn indexes_on_integers() {
    for (build, known) in [("8.1.2.0", false), ("8.2.0.0", true)] {
        let cluster = EmbeddedCluster::builder().build(build).start().unwrap();
        let client = Client::new(&policy(), &cluster.seeds()).await.unwrap();
        let (admin, plain) = (AdminPolicy::default(), CollectionIndexType::Default);
        let task = client.create_index_on_bin(&admin, "test", "s", "n", "i", IndexType::Integer, plain, None).await;
        if !known {
            let error = task.map(drop).unwrap_err();
            assert!(error.to_string().contains("'numeric', 'string'"), "{error}");
            continue;
        }
        task.unwrap().wait_till_complete(Some(Duration::from_secs(30))).await.unwrap();
        for n in 0..4 {
            let key = Key::new("test", "s", Value::from(n)).unwrap();
            client.put(&WritePolicy::default(), &key, &[as_bin!("n", n)]).await.unwrap();
        }
        let mut statement = Statement::new("test", "s", Bins::All);
        statement.set_filter(Filter::equal_by_index("i", 3));
        assert_eq!(numbers(&records(&client, statement).await), [3]);
    }
}
