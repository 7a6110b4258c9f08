//! What a cluster goes by: connections, tends, the circuit breaker, transactions, metrics.

use std::time::Duration;

use aerospike_core::ClientPolicy;

macro_rules! layers {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* } groups { $($(#[$group_doc:meta])* $group:ident: $of:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<$type>,)*
            $($(#[$group_doc])* pub $group: $of,)*
        }

        impl $name {
            /// These, and over them what the others say.
            #[must_use]
            pub fn merge(&self, over: &Self) -> Self {
                Self {
                    $($field: over.$field.clone().or_else(|| self.$field.clone()),)*
                    $($group: self.$group.merge(&over.$group),)*
                }
            }
        }
    };
}

layers! {
    /// What a cluster goes by. `None` leaves a setting to what the program says, or to the default.
    System {
        /// Connections per node that are opened at start and kept open.
        min_connections_per_node: u32,
        /// Most connections per node.
        max_connections_per_node: u32,
        /// Into how many pools the connections of rare commands are split. No key of the file.
        conn_pools_per_node: u8,
        /// Most time for opening one connection.
        wait_for_connection_to_complete: Duration,
        /// Most time for each command that watches the cluster. No key of the file.
        tend_timeout: Duration,
        /// Most time for a login. No key of the file.
        login_timeout: Duration,
        /// Connections that were idle for so long are closed.
        max_socket_idle_time: Duration,
        /// How often the cluster is looked at.
        tend_interval: Duration,
        /// How many tend intervals a window of the circuit breaker has.
        num_tend_intervals_in_error_window: u32,
        /// Errors within a window after which a node is left alone until the window ends.
        max_errors_in_error_window: u32,
    } groups {
        /// Transactions that sessions begin and end themselves.
        transactions: Transactions,
        /// What is measured, and where it goes.
        metrics: Metrics,
    }
}

layers! {
    /// How sessions carry out transactions that they begin and end themselves.
    Transactions {
        /// Whether a batch that writes several records of a strongly consistent namespace, outside of a transaction,
        /// becomes a transaction of its own.
        implicit_batch_write_transactions: bool,
        /// The mean pause before another attempt.
        sleep_between_attempts: Duration,
        /// The most attempts, with the first one: 1 or more.
        number_of_attempts: u32,
    } groups {}
}

layers! {
    /// What is measured, and where it goes.
    Metrics {
        /// Whether anything is measured.
        enabled: bool,
        /// The unit of latencies.
        latency_unit: LatencyUnit,
        /// How many buckets a histogram has.
        latency_columns: u32,
        /// By what power of two each bucket is wider than the one before.
        latency_shift: u32,
        /// How often a snapshot is exported.
        export_interval: Duration,
        /// Who gets the snapshots.
        exporter: Exporter,
        /// Where the files of snapshots are.
        report_dir: String,
        /// Bytes after which a new file begins; 0: never.
        report_size_limit: u64,
        /// Of so many calls in a row ..
        sampler_range: u32,
        /// .. so many are measured.
        sampler_threshold: u32,
        /// Names and values that go along with each snapshot.
        labels: Vec<(String, String)>,
        /// Whether latencies and counts of commands are measured.
        operational_enabled: bool,
        /// Whether it is counted which features are used.
        usage_enabled: bool,
    } groups {}
}

/// The unit of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
}

/// Who gets the snapshots of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exporter {
    /// Files in `report_dir`.
    File,
    /// Those that the program has added.
    Custom,
    /// Nobody.
    None,
}

impl System {
    /// Sets the properties of a policy. Times are rounded up to milliseconds, so that one above zero never becomes zero,
    /// which means "none".
    pub fn apply_to(&self, policy: &mut ClientPolicy) {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut policy.min_conns_per_node, self.min_connections_per_node.map(|n| n as usize));
        set(&mut policy.max_conns_per_node, self.max_connections_per_node.map(|n| n as usize));
        set(&mut policy.conn_pools_per_node, self.conn_pools_per_node);
        set(&mut policy.connect_timeout, self.wait_for_connection_to_complete.map(millis));
        set(&mut policy.timeout, self.tend_timeout.map(millis));
        set(&mut policy.login_timeout, self.login_timeout.map(millis));
        set(&mut policy.idle_timeout, self.max_socket_idle_time.map(millis));
        set(&mut policy.tend_interval, self.tend_interval.map(millis));
        set(&mut policy.error_rate_window, self.num_tend_intervals_in_error_window.map(|n| n as usize));
        set(&mut policy.max_error_rate, self.max_errors_in_error_window.map(|n| n as usize));
    }
}

/// Whole milliseconds, rounded up.
fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}
