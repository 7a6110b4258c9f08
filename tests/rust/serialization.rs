//! The feature `serialization`: types of the program as records by serde, and what is read or has failed as JSON.

#[path = "common/mod.rs"]
mod common;

use aerolane::mapping::serde::{from_bins, to_bins};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bin, Bins, IndexMap, Phase, ReadPolicy, Record, Result, SyncClient,
    Value, WritePolicy, as_bin,
};
use common::{Patient, Target, policy};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json, to_value};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct User {
    name: String,
    age: Option<i64>,
    tags: Vec<String>,
}

/// What a service does with the two crates' errors: both go through `?`.
fn store_and_load(client: &SyncClient, target: &Target, user: &User) -> Result<User> {
    let bins: Vec<Bin> = to_bins(user)?.into_iter().map(|(name, value)| Bin::new(name, value)).collect();
    client.put(&WritePolicy::patient(), &target.key("ann"), &bins)?;
    let record: Record = client.get(&ReadPolicy::patient(), &target.key("ann"), Bins::All)?;
    Ok(from_bins(&record.bins)?)
}

#[test]
fn types_of_the_program_are_records() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let user = User { name: "Ann".into(), age: Some(31), tags: vec!["a".into(), "b".into()] };
    assert_eq!(store_and_load(&client, &target, &user).unwrap(), user);
    let wrong: IndexMap<String, Value> = [("name".to_owned(), Value::Int(1))].into_iter().collect();
    let refused: aerolane::Error = from_bins::<User>(&wrong).unwrap_err().into();
    assert_eq!(to_value(&refused).unwrap()["kind"], "InvalidArgument");
}

#[test]
fn records_and_keys_are_json() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let key = target.key(1);
    client.put(&WritePolicy::patient(), &key, &[as_bin!("a", 1), as_bin!("s", "x")]).unwrap();
    let record = to_value(client.get(&ReadPolicy::patient(), &key, Bins::All).unwrap()).unwrap();
    assert_eq!(record["bins"], json!({"a": 1, "s": "x"}));
    assert_eq!(record["generation"], 1);
    let key = to_value(&key).unwrap();
    assert_eq!((&key["namespace"], &key["user_key"]), (&json!("test"), &json!(1)));
}

#[test]
fn errors_are_json_with_what_is_known_of_them() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let error = client.get(&ReadPolicy::patient(), &target.key(404), Bins::All).unwrap_err();
    assert_eq!(error.phase(), Phase::Receiving);
    let json = to_value(&error).unwrap();
    assert_eq!(json["kind"], "Server");
    assert_eq!(json["result_code"], 2);
    assert_eq!(json["message"], error.base_message());
    assert_eq!(json["node"], error.node().unwrap());
    assert_eq!(
        (&json["iteration"], &json["in_doubt"], &json["phase"]),
        (&json!(1), &json!(false), &json!("receiving"))
    );
    assert_eq!((&json["server_error_detail"], &json["source"]), (&Json::Null, &Json::Null));
    assert_eq!(json["sub_errors"], json!([]));
    // Causes and earlier attempts have the same form.
    let around = to_value(error.clone().with_sub_errors(vec![error.clone()]).chain_error("around it")).unwrap();
    assert_eq!((&around["kind"], &around["source"]["kind"]), (&json!("Client"), &json!("Server")));
    assert_eq!(around["source"]["sub_errors"][0]["result_code"], 2);
}

#[test]
fn rows_of_batches_are_json() {
    let target = Target::embedded(1);
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("a", 1)]).unwrap();
    let read = BatchReadPolicy::default();
    let mut rows = [1, 404].map(|n| BatchOperation::read(&read, target.key(n), Bins::All));
    client.batch(&BatchPolicy::patient(), &mut rows).unwrap();
    let rows = to_value(rows.each_ref().map(BatchOperation::batch_record)).unwrap();
    assert_eq!(rows[0]["record"]["bins"], json!({"a": 1}));
    assert_eq!((&rows[0]["error"], &rows[0]["has_write"]), (&Json::Null, &json!(false)));
    assert_eq!((&rows[1]["record"], &rows[1]["error"]["result_code"]), (&Json::Null, &json!(2)));
    assert_eq!(rows[1]["key"]["user_key"], 404);
}
