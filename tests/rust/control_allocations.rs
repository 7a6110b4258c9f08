//! What the hot path asks of the topology and of errors costs no allocation, or one.

#[path = "common/counting.rs"]
mod counting;

use std::sync::Arc;

use aerolane::Error;
use aerolane::raw::topology::{Route, TopologyBuilder, parse_replicas};
use aerospike_core::{ReadModeSc, Replica};
use counting::allocations_of;

#[test]
fn a_not_found_error_is_one_allocation() {
    let node: Arc<str> = Arc::from("BB9: 10.0.0.1:3000");
    let (count, error) = allocations_of(|| Error::server(2, &node).with_attempts(1));
    assert_eq!(count, 1);
    assert!(error.is_not_found());
    assert_eq!(allocations_of(|| error.in_doubt() || error.node().is_none() || error.result_code() != 2), (0, false));
}

#[test]
fn routing_allocates_nothing() {
    let mut builder = TopologyBuilder::new(100, 1, true);
    let node = builder.upsert_node("BB9", "10.0.0.1:3000", None, vec![], vec![]).unwrap();
    // 4096 ones in base64, and the bits that pad the last byte.
    let all = format!("{}8=", "/".repeat(682));
    builder.apply_claims(node, &parse_replicas(&format!("other:0,1,{all};test:0,1,{all}")).unwrap());
    let topology = builder.snapshot().unwrap();
    for replica in [Replica::Master, Replica::MasterProles, Replica::Random, Replica::Sequence, Replica::PreferRack] {
        let (count, routed) = allocations_of(|| {
            let map = topology.namespace("test").unwrap();
            let mut read = Route::read(map, replica, ReadModeSc::Session);
            let first = map.route(4095, &mut read, 7).unwrap();
            read.next_attempt(false);
            let second = map.route(4095, &mut read, 8).unwrap();
            let mut write = Route::write(replica);
            let open = topology.node(first).unwrap().breaker().is_open();
            [first, second, map.route(0, &mut write, 9).unwrap()].map(|id| !open && id == node)
        });
        assert_eq!((count, routed), (0, [true; 3]), "{replica:?}");
    }
}
