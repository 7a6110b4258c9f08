//! Settings of clusters and conditions, as requests have them.

use super::answer::Refusal;
use crate::conditions::{
    Conditions, ConditionsError, DEFAULT_IN_SERVICE, Latency, ServiceTime, ServiceTimes, parse_duration,
};
use crate::{Builder, ConflictResolution, EmbeddedCluster, NamespaceOptions};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// What `start` takes.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    nodes: usize,
    replication_factor: usize,
    namespaces: Vec<String>,
    strong_consistency: bool,
    default_ttl: u32,
    nsup_period: u32,
    host: String,
    advertise: Option<String>,
    advertise_alternate: Option<String>,
    port: u16,
    cluster_name: Option<String>,
    build: Option<String>,
    users: BTreeMap<String, User>,
    racks: Vec<u32>,
    tls_name: Option<String>,
    tls_port: u16,
    tls_client_ca: Option<String>,
    threads: Option<usize>,
    roster: bool,
    keep_records: bool,
    conflict_resolution: String,
    data_limit: u64,
    replication_lag: Option<Value>,
    migration_rate: Option<u32>,
    connection_limit: usize,
    service_time: Option<Value>,
    in_service: usize,
    latency: Option<Value>,
    seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nodes: 3,
            replication_factor: 2,
            namespaces: vec!["test".to_owned()],
            strong_consistency: false,
            default_ttl: 0,
            nsup_period: 1,
            host: "127.0.0.1".to_owned(),
            advertise: None,
            advertise_alternate: None,
            port: 0,
            cluster_name: None,
            build: None,
            users: BTreeMap::new(),
            racks: Vec::new(),
            tls_name: None,
            tls_port: 0,
            tls_client_ca: None,
            threads: None,
            roster: false,
            keep_records: false,
            conflict_resolution: ConflictResolution::default().to_string(),
            data_limit: 0,
            replication_lag: None,
            migration_rate: None,
            connection_limit: 0,
            service_time: None,
            in_service: DEFAULT_IN_SERVICE,
            latency: None,
            seed: None,
        }
    }
}

/// A user: a password alone is that of one who may do everything.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a password, or an object with password and roles")]
enum User {
    Password(String),
    WithRoles { password: String, roles: Vec<String> },
}

impl Settings {
    pub(super) fn builder(self) -> Result<Builder, Refusal> {
        if self.namespaces.is_empty() {
            return Err(Refusal::setting("namespaces: at least one name expected"));
        }
        let mut builder = EmbeddedCluster::builder()
            .nodes(self.nodes)
            .replication_factor(self.replication_factor)
            .host(address("host", &self.host)?)
            .port(self.port)
            .racks(self.racks)
            .migration_rate(self.migration_rate)
            .connection_limit(self.connection_limit)
            .conditions(conditions(
                self.service_time.as_ref(),
                self.in_service,
                self.latency.as_ref(),
                self.seed.unwrap_or(0),
            )?);
        if let Some(seed) = self.seed {
            builder = builder.seed(seed);
        }
        let conflicts: ConflictResolution = self.conflict_resolution.parse().map_err(Refusal::setting)?;
        for name in self.namespaces {
            let options = NamespaceOptions::new(name)
                .default_ttl(self.default_ttl)
                .nsup_period(self.nsup_period)
                .strong_consistency(self.strong_consistency)
                .roster(self.roster)
                .keep_records(self.keep_records)
                .conflict_resolution(conflicts)
                .data_limit(self.data_limit);
            builder = builder.namespace_with(options);
        }
        if let Some(lag) = &self.replication_lag {
            builder = builder.replication_lag(duration("replication_lag", lag)?);
        }
        if let Some(text) = &self.advertise {
            builder = builder.advertise(address("advertise", text)?);
        }
        if let Some(text) = &self.advertise_alternate {
            builder = builder.advertise_alternate(address("advertise_alternate", text)?);
        }
        if let Some(name) = self.cluster_name {
            builder = builder.cluster_name(name);
        }
        if let Some(build) = self.build {
            builder = builder.build(build);
        }
        for (name, user) in self.users {
            builder = match user {
                User::Password(password) => builder.user(name, password),
                User::WithRoles { password, roles } => builder.user_with_roles(name, password, roles),
            };
        }
        match self.threads {
            Some(0) => return Err(Refusal::setting("threads: at least 1 expected")),
            Some(threads) => builder = builder.service_threads(threads),
            None => {}
        }
        with_tls(builder, self.tls_name.as_deref(), self.tls_port, self.tls_client_ca.as_deref())
    }
}

fn address(setting: &str, text: &str) -> Result<IpAddr, Refusal> {
    let told = |_| Refusal::setting(format!("{setting} {text:?}: an IP address such as \"127.0.0.1\" expected"));
    text.parse().map_err(told)
}

#[cfg(feature = "tls")]
fn with_tls(builder: Builder, name: Option<&str>, port: u16, client_ca: Option<&str>) -> Result<Builder, Refusal> {
    let Some(name) = name else {
        return match client_ca {
            Some(_) => Err(Refusal::setting("tls_client_ca goes with tls_name")),
            None => Ok(builder),
        };
    };
    let tls = crate::TlsOptions::self_signed(name);
    let tls = match client_ca {
        Some(authorities) => tls.require_client_certificate(authorities),
        None => tls,
    };
    Ok(builder.tls(tls).tls_port(port))
}

#[cfg(not(feature = "tls"))]
fn with_tls(builder: Builder, name: Option<&str>, _port: u16, client_ca: Option<&str>) -> Result<Builder, Refusal> {
    if name.is_some() || client_ca.is_some() {
        return Err(Refusal::setting("this program was built without TLS"));
    }
    Ok(builder)
}

/// What `set_conditions` takes.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConditionSettings {
    service_time: Option<Value>,
    in_service: usize,
    latency: Option<Value>,
    seed: u64,
    /// `None`: all of them.
    pub(super) node: Option<String>,
}

impl Default for ConditionSettings {
    fn default() -> Self {
        Self { service_time: None, in_service: DEFAULT_IN_SERVICE, latency: None, seed: 0, node: None }
    }
}

impl ConditionSettings {
    pub(super) fn read(&self) -> Result<Conditions, Refusal> {
        conditions(self.service_time.as_ref(), self.in_service, self.latency.as_ref(), self.seed)
    }
}

/// How long a schedule waits.
pub(super) fn pause(seconds: f64) -> Result<Duration, Refusal> {
    Duration::try_from_secs_f64(seconds).map_err(|_| Refusal::setting(format!("{seconds} s is not a duration")))
}

/// A time, as text or as seconds.
pub(super) fn duration(argument: &str, value: &Value) -> Result<Duration, Refusal> {
    match Time::of(value, argument)? {
        Time::Seconds(time) => Ok(time),
        Time::Text(text) => parse_duration(text).map_err(|error| Refusal::conditions("replication_lag", &error)),
    }
}

/// How far a clock is to be moved, in milliseconds.
pub(super) fn clock(seconds: f64) -> Result<i64, Refusal> {
    let text = || Refusal::setting(format!("{seconds} s: a clock is moved by ten years at most"));
    let moved = Duration::try_from_secs_f64(seconds.abs()).map_err(|_| text())?;
    let millis = i64::try_from(moved.as_millis()).map_err(|_| text())?;
    Ok(if seconds < 0.0 { -millis } else { millis })
}

fn conditions(
    service_time: Option<&Value>,
    in_service: usize,
    latency: Option<&Value>,
    seed: u64,
) -> Result<Conditions, Refusal> {
    let mut conditions = Conditions::new().in_service(in_service).seed(seed);
    if let Some(times) = service_time {
        conditions = conditions.service_times(service_times(times)?);
    }
    if let Some(latency) = latency {
        let told = |error: ConditionsError| Refusal::conditions("latency", &error);
        let Latency { one_way, jitter } = match Time::of(latency, "latency")? {
            Time::Text(text) => text.parse().map_err(told)?,
            Time::Seconds(one_way) => Latency { one_way, ..Latency::ZERO },
        };
        conditions = conditions.latency(one_way).jitter(jitter);
    }
    conditions.check().map_err(|error| Refusal::setting(error.to_string()))?;
    Ok(conditions)
}

/// One time for all kinds of requests, or an object with times for kinds.
fn service_times(value: &Value) -> Result<ServiceTimes, Refusal> {
    let told = |error: ConditionsError| Refusal::conditions("service_time", &error);
    let Value::Object(kinds) = value else {
        return match Time::of(value, "service_time")? {
            Time::Text(text) => text.parse().map_err(told),
            Time::Seconds(time) => Ok(ServiceTimes::all(&ServiceTime::fixed(time))),
        };
    };
    let mut pairs = Vec::with_capacity(kinds.len());
    for (kind, time) in kinds {
        let time = match Time::of(time, "service_time")? {
            Time::Text(text) => text.parse().map_err(told)?,
            Time::Seconds(time) => ServiceTime::fixed(time),
        };
        pairs.push((kind.as_str(), time));
    }
    ServiceTimes::from_pairs(pairs).map_err(told)
}

/// What stands for a time.
enum Time<'a> {
    /// In the grammar of the command line.
    Text(&'a str),
    Seconds(Duration),
}

impl<'a> Time<'a> {
    fn of(value: &'a Value, argument: &str) -> Result<Self, Refusal> {
        let seconds = match value {
            Value::String(text) => return Ok(Self::Text(text)),
            Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
            _ => return Err(Refusal::of_type(format!("{argument}: a text such as \"80us\" or seconds expected"))),
        };
        Duration::try_from_secs_f64(seconds).map(Self::Seconds).map_err(|_| {
            Refusal::setting(format!("{argument}: {seconds} s is not a duration: expected 0 s to 10 minutes"))
        })
    }
}
