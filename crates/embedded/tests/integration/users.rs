//! Users and roles: administration by aerospike-core, unmodified, and what the roles permit.

use crate::patient::Patient;
use aerolane_embedded::EmbeddedCluster;
use aerospike_core::{
    AdminPolicy, AuthMode, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientPolicy,
    Error, Key, PartitionFilter, Privilege, PrivilegeCode, QueryPolicy, ReadPolicy, ResultCode, Statement, UdfLang,
    WritePolicy, as_bin, as_key, as_values, operations,
};
use std::time::{Duration, Instant};

async fn connect_as(cluster: &EmbeddedCluster, user: &str, password: &str) -> Result<Client, Error> {
    let auth_mode = AuthMode::Internal(user.to_owned(), password.to_owned());
    let policy = ClientPolicy {
        auth_mode,
        fail_if_not_connected: true,
        tend_interval: 250,
        timeout: 20_000,
        login_timeout: 20_000,
        ..ClientPolicy::default()
    };
    Client::new(&policy, &cluster.seeds()).await
}

fn code<T>(result: Result<T, Error>) -> Option<ResultCode> {
    result.err().map(|error| error.server_result_code().unwrap_or_else(|| panic!("{error}")))
}

fn cluster() -> EmbeddedCluster {
    EmbeddedCluster::builder()
        .nodes(2)
        .namespace("test")
        .namespace("other")
        .user("admin", "secret")
        .user_with_roles("reader", "r", ["read"])
        .start()
        .unwrap()
}

fn scoped(code: PrivilegeCode, namespace: &str, set: Option<&str>) -> Privilege {
    Privilege::new(code, Some(namespace.to_owned()), set.map(str::to_owned))
}

const VIOLATION: Option<ResultCode> = Some(ResultCode::RoleViolation);

async fn put(client: &Client, key: &Key) -> Option<ResultCode> {
    code(client.put(&WritePolicy::patient(), key, &[as_bin!("i", 1)]).await)
}

async fn get(client: &Client, key: &Key) -> Option<ResultCode> {
    code(client.get(&ReadPolicy::patient(), key, Bins::All).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn users_and_roles_are_made_shown_changed_and_dropped() {
    let cluster = cluster();
    let admin = connect_as(&cluster, "admin", "secret").await.unwrap();
    let policy = AdminPolicy::patient();
    let privileges =
        [scoped(PrivilegeCode::ReadWrite, "test", Some("a")), Privilege::new(PrivilegeCode::Truncate, None, None)];
    admin.create_role(&policy, "writer", &privileges, &["127.0.0.0/8", "10.1.2.3"], 100, 50).await.unwrap();
    assert_eq!(
        code(admin.create_role(&policy, "writer", &privileges, &[], 0, 0).await),
        Some(ResultCode::RoleAlreadyExists)
    );
    assert_eq!(
        code(admin.create_role(&policy, "read", &privileges, &[], 0, 0).await),
        Some(ResultCode::RoleAlreadyExists)
    );
    let roles = admin.query_roles(&policy, Some("writer")).await.unwrap();
    assert_eq!(
        (roles.len(), &roles[0].privileges[..]),
        (
            1,
            &[privileges[0].clone(), Privilege::new(PrivilegeCode::Truncate, Some(String::new()), Some(String::new()))]
                [..]
        )
    );
    assert_eq!((roles[0].read_quota, roles[0].write_quota), (100, 50));
    assert_eq!(roles[0].allowlist, ["127.0.0.0/8", "10.1.2.3"]);
    assert_eq!(admin.query_roles(&policy, None).await.unwrap().len(), 11);
    assert_eq!(code(admin.query_roles(&policy, Some("nope")).await), Some(ResultCode::InvalidRole));
    assert_eq!(code(admin.drop_role(&policy, "read").await), Some(ResultCode::InvalidRole));

    admin.create_user(&policy, "u", "first", &["writer"]).await.unwrap();
    assert_eq!(code(admin.create_user(&policy, "u", "x", &[]).await), Some(ResultCode::UserAlreadyExists));
    assert_eq!(code(admin.create_user(&policy, "v", "x", &["nope"]).await), Some(ResultCode::InvalidRole));
    admin.grant_roles(&policy, "u", &["read", "sindex-admin"]).await.unwrap();
    admin.revoke_roles(&policy, "u", &["sindex-admin"]).await.unwrap();
    assert_eq!(code(admin.grant_roles(&policy, "nobody", &["read"]).await), Some(ResultCode::InvalidUser));
    let users = admin.query_users(&policy, Some("u")).await.unwrap();
    assert_eq!(users[0].roles, ["read", "writer"]);
    assert_eq!((users[0].read_info[0], users[0].write_info[0]), (100, 50));
    let all = admin.query_users(&policy, None).await.unwrap();
    assert_eq!(all.iter().map(|user| &*user.user).collect::<Vec<_>>(), ["admin", "reader", "u"]);
    assert!(all[0].conns_in_use > 0);
    assert_eq!(code(admin.query_users(&policy, Some("nobody")).await), Some(ResultCode::InvalidUser));

    let user = connect_as(&cluster, "u", "first").await.unwrap();
    user.change_password(&policy, "u", "second").await.unwrap();
    assert!(connect_as(&cluster, "u", "first").await.is_err());
    let user = connect_as(&cluster, "u", "second").await.unwrap();
    assert_eq!(code(user.create_user(&policy, "w", "x", &[]).await), VIOLATION);
    assert_eq!(code(user.query_users(&policy, None).await), VIOLATION);
    assert_eq!(user.query_users(&policy, Some("u")).await.unwrap().len(), 1);

    admin.set_quotas(&policy, "writer", 7, 8).await.unwrap();
    admin.set_allowlist(&policy, "writer", &[]).await.unwrap();
    assert_eq!(code(admin.set_allowlist(&policy, "writer", &["nonsense"]).await), Some(ResultCode::InvalidAllowlist));
    let role = &admin.query_roles(&policy, Some("writer")).await.unwrap()[0];
    assert_eq!((role.read_quota, role.write_quota, role.allowlist.len()), (7, 8, 0));
    admin.drop_role(&policy, "writer").await.unwrap();
    assert_eq!(admin.query_users(&policy, Some("u")).await.unwrap()[0].roles, ["read"]);
    admin.drop_user(&policy, "u").await.unwrap();
    assert_eq!(get(&user, &as_key!("test", "a", 1)).await, Some(ResultCode::NotAuthenticated));
    assert!(connect_as(&cluster, "u", "second").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_permit_what_they_say_and_changes_are_felt_at_once() {
    let cluster = cluster();
    let admin = connect_as(&cluster, "admin", "secret").await.unwrap();
    let reader = connect_as(&cluster, "reader", "r").await.unwrap();
    let policy = AdminPolicy::patient();
    let key = as_key!("test", "a", 1);
    assert_eq!(put(&admin, &key).await, None);
    assert_eq!((get(&reader, &key).await, put(&reader, &key).await), (None, VIOLATION));
    assert_eq!(code(reader.delete(&WritePolicy::patient(), &key).await), VIOLATION);
    let both = [operations::add(&as_bin!("i", 1)), operations::get()];
    assert_eq!(code(reader.operate(&WritePolicy::patient(), &key, &both).await), VIOLATION);
    assert_eq!(code(reader.truncate(&policy, "test", "a", 0).await), VIOLATION);
    assert_eq!(
        code(reader.register_udf(&policy, b"function f() return 1 end", "f.lua", UdfLang::Lua).await),
        VIOLATION
    );
    admin.register_udf(&policy, b"function f() return 1 end", "f.lua", UdfLang::Lua).await.unwrap();
    assert_eq!(code(reader.execute_udf(&WritePolicy::patient(), &key, "f", "f", &as_values!()).await), VIOLATION);
    let wp = BatchWritePolicy::default();
    let wp_row = BatchOperation::write(&wp, key.clone(), vec![operations::put(&as_bin!("i", 2))]);
    let mut rows = vec![wp_row, BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All)];
    reader.batch(&BatchPolicy::patient(), &mut rows).await.unwrap();
    assert_eq!(rows[0].result_code(), VIOLATION);
    assert_eq!(rows[1].result_code(), Some(ResultCode::Ok));
    let statement = Statement::new("test", "a", Bins::All);
    let mut query = reader
        .query_foreach(&QueryPolicy::patient(), PartitionFilter::all(), statement, |record| {
            record.unwrap();
            async { true }
        })
        .await
        .unwrap();
    query.wait().await.unwrap();

    // A role for one set, given and taken while the connections stay.
    admin
        .create_role(&policy, "a-writer", &[scoped(PrivilegeCode::Write, "test", Some("a"))], &[], 0, 0)
        .await
        .unwrap();
    admin.grant_roles(&policy, "reader", &["a-writer"]).await.unwrap();
    assert_eq!(put(&reader, &key).await, None);
    assert_eq!(put(&reader, &as_key!("test", "b", 1)).await, VIOLATION);
    assert_eq!(put(&reader, &as_key!("other", "a", 1)).await, VIOLATION);
    admin.grant_privileges(&policy, "a-writer", &[scoped(PrivilegeCode::ReadWriteUdf, "other", None)]).await.unwrap();
    assert_eq!(put(&reader, &as_key!("other", "b", 1)).await, None);
    admin.revoke_privileges(&policy, "a-writer", &[scoped(PrivilegeCode::Write, "test", Some("a"))]).await.unwrap();
    assert_eq!(put(&reader, &key).await, VIOLATION);
    assert_eq!(
        code(reader.execute_udf(&WritePolicy::patient(), &as_key!("other", "b", 1), "f", "f", &as_values!()).await),
        None
    );

    // Quotas are per second; in the next one there is a new one.
    admin.set_quotas(&policy, "a-writer", 3, 0).await.unwrap();
    let mut exceeded = 0;
    let started = Instant::now();
    for _ in 0..60 {
        match get(&reader, &key).await {
            None => {}
            Some(ResultCode::QuotaExceeded) => exceeded += 1,
            other => panic!("{other:?}"),
        }
    }
    let seconds = started.elapsed().as_secs() + 2;
    assert!(exceeded >= 60 - 3 * seconds, "{exceeded} of 60 in {seconds} s");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(get(&reader, &key).await, None);

    // Addresses from which a role may be used: without one of them there is no access at all.
    admin.set_allowlist(&policy, "a-writer", &["10.0.0.0/8"]).await.unwrap();
    assert_eq!(get(&reader, &key).await, Some(ResultCode::NotAllowlisted));
    assert!(connect_as(&cluster, "reader", "r").await.is_err());
    admin.set_allowlist(&policy, "a-writer", &["10.0.0.0/8", "127.0.0.1"]).await.unwrap();
    assert!(connect_as(&cluster, "reader", "r").await.is_ok());
}
