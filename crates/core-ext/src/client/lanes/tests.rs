use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::time::Duration;

use aerolane_embedded::EmbeddedCluster;
use aerospike_core::{Bins, ReadPolicy, WritePolicy, as_bin, as_key};

use super::*;
use crate::{Client, ClientPolicy, LaneRuntime, LocalClient};

const THREADS: usize = 3;

async fn put_and_get(client: LocalClient) -> tokio::runtime::Id {
    let key = as_key!("test", "lanes", 1);
    for _ in 0..100 {
        client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).await.unwrap();
        client.get(&ReadPolicy::default(), &key, Bins::All).await.unwrap();
    }
    Handle::current().id()
}

/// A lane works while the locks of all other lanes, and the one for changes of the list of lanes, are held by others.
#[test]
fn lanes_share_no_lock() {
    let cluster = EmbeddedCluster::builder().nodes(3).start().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let client = runtime.block_on(Client::new(&ClientPolicy::default(), &cluster.seeds())).unwrap();
    let threads = LaneRuntime::new(&client, NonZeroUsize::new(THREADS).unwrap()).unwrap();
    let ids: Vec<_> = (0..THREADS).map(|thread| threads.spawn_on(thread, put_and_get).wait().unwrap()).collect();
    let lanes = &client.shared.lanes;
    for (thread, id) in ids.into_iter().enumerate() {
        let all = lanes.all.load_full();
        let others: Vec<_> = all.iter().filter(|of| of.runtime != id).flat_map(|of| &of.lanes).collect();
        assert!(others.len() >= THREADS - 1, "{} other lanes", others.len());
        let held: Vec<_> = others.iter().map(|lane| lane.hold()).collect();
        let changes = lanes.changes.lock();
        let (done, over) = mpsc::channel();
        let task = threads.spawn_on(thread, put_and_get);
        std::thread::spawn(move || done.send(task.wait().is_ok()));
        assert_eq!(over.recv_timeout(Duration::from_secs(60)), Ok(true), "thread {thread}");
        drop((held, changes));
    }
}
