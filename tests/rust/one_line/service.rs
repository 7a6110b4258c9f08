// A service's use of the client. Included once for each crate: only the `use` line in front differs.

use client::expressions::{eq, int_bin, int_val};
use client::operations::{self, cdt_context::ctx_list_index, lists};
use client::{
    BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bin, Bins, Client, ClientPolicy,
    Error, ErrorKind, Expiration, GenerationPolicy, ListPolicy, QueryPolicy, ReadPolicy, RecordExistsAction,
    ResultCode, Statement, Value, WritePolicy, as_bin, as_key, as_val,
};

pub(crate) async fn run(hosts: &str, namespace: &str, set: &str) -> Result<(), Error> {
    let client = Client::new(&ClientPolicy::default(), &hosts).await?;
    assert!(client.is_connected());
    assert_eq!(client.nodes().len(), client.node_names().len());
    let (read, write) = (ReadPolicy::default(), WritePolicy::default());

    let key = as_key!(namespace, set, "alice");
    client.delete(&write, &key).await?;
    match client.get(&read, &key, Bins::All).await {
        Err(e) if e.server_result_code() == Some(ResultCode::KeyNotFoundError) => {
            assert!(matches!(e.kind(), ErrorKind::Server { .. }));
            assert!(!e.in_doubt() && e.node().is_some());
        }
        other => panic!("no record, and yet {other:?}"),
    }

    let bins = [as_bin!("visits", 1), as_bin!("name", "Alice"), Bin::new("tags".to_string(), as_val!("new"))];
    client.put(&write, &key, &bins).await?;
    client.add(&write, &key, &[as_bin!("visits", 2)]).await?;
    client.append(&write, &key, &[as_bin!("name", "!")]).await?;
    client.prepend(&write, &key, &[as_bin!("name", "> ")]).await?;
    let record = client.get(&read, &key, ["visits", "name"]).await?;
    assert_eq!(record.bins.get("visits"), Some(&Value::from(3)));
    assert_eq!(record.bins.get("name"), Some(&Value::from("> Alice!")));
    assert_eq!(record.generation, 4);
    assert!(client.exists(&read, &key).await?);
    client.touch(&WritePolicy::new(0, Expiration::Never), &key).await?;
    let header = client.get(&read, &key, Bins::None).await?;
    assert!(header.bins.is_empty() && header.time_to_live().is_none());

    let create = WritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..WritePolicy::default() };
    let refused = client.put(&create, &key, &bins).await.unwrap_err();
    assert!(refused.matches(&[ResultCode::KeyExistsError]));
    let stale = WritePolicy {
        generation_policy: GenerationPolicy::ExpectGenEqual,
        ..WritePolicy::new(1, Expiration::NamespaceDefault)
    };
    assert_eq!(client.put(&stale, &key, &bins).await.unwrap_err().result_code(), 3);

    // Scalar operations and those of collections in one call.
    let tags = vec![as_val!("x"), as_val!("y")];
    let ops = [
        operations::put(&as_bin!("n", 7)),
        operations::get_bin("visits"),
        lists::append_items(&ListPolicy::default(), "list", tags),
        lists::size("list"),
    ];
    let record = client.operate(&write, &key, &ops).await?;
    assert_eq!(record.bins.get("visits"), Some(&Value::from(3)));
    assert_eq!(record.bins.get("list"), Some(&Value::MultiResult(vec![Value::from(2), Value::from(2)])));
    let _nested = lists::size("list").context(vec![ctx_list_index(0)]);

    let other = as_key!(namespace, set, 42);
    let rows = [operations::put(&as_bin!("visits", 9))];
    let mut batch = vec![
        BatchOperation::write(&BatchWritePolicy::default(), other.clone(), rows),
        BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All),
        BatchOperation::read(&BatchReadPolicy::default(), as_key!(namespace, set, "nobody"), Bins::None),
    ];
    client.batch(&BatchPolicy::write_default(), &mut batch).await?;
    let codes: Vec<Option<ResultCode>> = batch.iter().map(BatchOperation::result_code).collect();
    assert_eq!(codes, [Some(ResultCode::Ok), Some(ResultCode::Ok), Some(ResultCode::KeyNotFoundError)]);
    assert!(batch[1].record().is_some_and(|r| r.bins.contains_key("visits")));

    let mut filtered = ReadPolicy::default();
    filtered.base_policy.filter_expression = Some(eq(int_bin("visits".to_string()), int_val(3)));
    assert_eq!(client.get(&filtered, &key, Bins::All).await?.bins.get("n"), Some(&Value::from(7)));
    filtered.base_policy.filter_expression = Some(eq(int_bin("visits".to_string()), int_val(4)));
    let refused = client.get(&filtered, &key, Bins::All).await.unwrap_err();
    assert_eq!(refused.server_result_code(), Some(ResultCode::FilteredOut));

    let statement = Statement::new(namespace, set, Bins::All);
    let found = client.query(&QueryPolicy::default(), client_partitions(), statement).await?;
    drop(found);

    let mut deletes = vec![
        BatchOperation::delete(&BatchDeletePolicy::default(), key.clone()),
        BatchOperation::delete(&BatchDeletePolicy::default(), other),
    ];
    client.batch(&BatchPolicy::write_default(), &mut deletes).await?;
    assert!(!client.exists(&read, &key).await?);
    client.close().await?;
    Ok(())
}

fn client_partitions() -> client::PartitionFilter {
    client::PartitionFilter::all()
}
