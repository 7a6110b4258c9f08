//! A service that used aerospike-core runs on Aerolane after the change of one line: the same source, included twice.

mod on_core {
    use aerospike_core as client;

    include!("one_line/service.rs");
}

mod on_aerolane {
    use aerolane as client;

    include!("one_line/service.rs");
}

/// Every public item of aerospike-core 3.0.0: compiling this is the test.
#[allow(dead_code, unused_imports, unused_variables, clippy::all, clippy::pedantic)]
mod items_on_core {
    use aerospike_core as client;

    include!("one_line/items/names.rs");
    include!("one_line/items/root_types.rs");
    include!("one_line/items/module_types.rs");
}

#[allow(dead_code, unused_imports, unused_variables, clippy::all, clippy::pedantic)]
mod items_on_aerolane {
    use aerolane as client;

    include!("one_line/items/names.rs");
    include!("one_line/items/root_types.rs");
    include!("one_line/items/module_types.rs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_source_runs_on_both() {
    let target = crate::common::Target::start();
    on_core::run(target.seeds(), target.namespace(), "one_line_core").await.unwrap();
    on_aerolane::run(target.seeds(), target.namespace(), "one_line_aerolane").await.unwrap();
}
