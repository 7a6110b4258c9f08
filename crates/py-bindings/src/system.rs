//! Settings of a whole cluster: `SystemSettings` and its groups, and those that sessions read at run time.

use std::time::Duration;

use aerolane::metrics::MetricsExport;
use aerolane_config::{Exporter, LatencyUnit, Metrics, System, Transactions};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::policy::enums::{add, python_enum};
use crate::policy::kinds::{Kind, Maybe, Member, Number, Span, Switch, UpTo, Within, wrong_type};

python_enum! {
    /// Where snapshots of metrics go: FILE (files in a directory), CUSTOM (exporters that the program adds) or NONE.
    "MetricsExporterType": Exporter { FILE = "file" => Self::File, CUSTOM = "custom" => Self::Custom, NONE = "none" => Self::None }
}

type Connections = UpTo<65_535>;
type Attempts = Within<1, { u32::MAX as i64 }>;

/// A text.
struct Plain;

impl Kind<String> for Plain {
    fn get(py: Python<'_>, value: &String) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
        value.extract().map_err(|_| wrong_type(value, what, "a str"))
    }
}

/// `"milliseconds"` or `"microseconds"`.
struct Unit;

impl Kind<LatencyUnit> for Unit {
    fn get(py: Python<'_>, value: &LatencyUnit) -> PyResult<Py<PyAny>> {
        match value {
            LatencyUnit::Milliseconds => "milliseconds",
            LatencyUnit::Microseconds => "microseconds",
        }
        .into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<LatencyUnit> {
        match Plain::set(value, what)?.to_ascii_lowercase().as_str() {
            "milliseconds" => Ok(LatencyUnit::Milliseconds),
            "microseconds" => Ok(LatencyUnit::Microseconds),
            other => {
                let text = format!("{what} is {other:?}, it must be \"milliseconds\" or \"microseconds\"");
                Err(crate::errors::invalid_argument(value.py(), text))
            }
        }
    }
}

/// A dict of str to str.
struct Labels;

impl Kind<Vec<(String, String)>> for Labels {
    fn get(py: Python<'_>, value: &Vec<(String, String)>) -> PyResult<Py<PyAny>> {
        let dict = PyDict::new(py);
        for (name, label) in value {
            dict.set_item(name, label)?;
        }
        dict.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<(String, String)>> {
        let wrong = || wrong_type(value, what, "a dict of str to str");
        let dict = value.cast::<PyDict>().map_err(|_| wrong())?;
        dict.iter()
            .map(|(name, label)| Ok((name.extract()?, label.extract()?)))
            .collect::<PyResult<_>>()
            .map_err(|_| wrong())
    }
}

/// Bytes of a file of metrics: 0, or at least a million.
struct ReportSize;

impl Kind<u64> for ReportSize {
    fn get(py: Python<'_>, value: &u64) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u64> {
        match <UpTo<{ i64::MAX }> as Kind<u64>>::set(value, what)? {
            1..1_000_000 => {
                let text = format!("{what} is {value}, it must be 0 (no limit) or at least 1000000");
                Err(crate::errors::invalid_argument(value.py(), text))
            }
            bytes => Ok(bytes),
        }
    }
}

/// A time between two exports.
struct Interval;

impl Kind<Duration> for Interval {
    fn get(py: Python<'_>, value: &Duration) -> PyResult<Py<PyAny>> {
        Span::get(py, value)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Duration> {
        let interval = Span::set(value, what)?;
        let least = MetricsExport::LEAST_INTERVAL;
        if interval < least {
            let text = format!("{what} is {interval:?}, it must be at least {least:?}");
            return Err(crate::errors::invalid_argument(value.py(), text));
        }
        Ok(interval)
    }
}

/// A member of an enumeration, or its value in any case.
struct ExporterOrName;

impl Kind<Exporter> for ExporterOrName {
    fn get(py: Python<'_>, value: &Exporter) -> PyResult<Py<PyAny>> {
        Member::get(py, value)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Exporter> {
        let Ok(name) = value.extract::<String>() else { return Member::set(value, what) };
        match name.to_ascii_lowercase().as_str() {
            "file" => Ok(Exporter::File),
            "custom" => Ok(Exporter::Custom),
            "none" => Ok(Exporter::None),
            _ => {
                let text = format!("{what} is {name:?}, it must be one of file, custom, none");
                Err(crate::errors::invalid_argument(value.py(), text))
            }
        }
    }
}

/// Settings that are a dataclass in Python.
pub(crate) trait Dataclass: Sized {
    /// Its name.
    const NAME: &'static str;

    /// From the attributes.
    ///
    /// Raises `TypeError` for what is no such dataclass and for values of a wrong type, and `InvalidArgumentError` for those
    /// out of bounds.
    fn from_python(settings: &Bound<'_, PyAny>) -> PyResult<Self>;

    /// The dataclass.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

macro_rules! dataclass {
    ($rust:ident $name:literal { $($field:ident: $kind:ty),* $(,)? } groups { $($group:ident: $of:ident),* }) => {
        impl Dataclass for $rust {
            const NAME: &'static str = $name;

            fn from_python(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
                let py = settings.py();
                if !settings.is_instance(&class::<Self>(py)?)? {
                    return Err(wrong_type(settings, "settings", concat!("of the class ", $name)));
                }
                Ok(Self {
                    $($field: <Maybe<$kind> as Kind<_>>::set(&settings.getattr(stringify!($field))?, stringify!($field))?,)*
                    $($group: $of::from_python(&settings.getattr(stringify!($group))?)?,)*
                })
            }

            fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let fields = PyDict::new(py);
                $(fields.set_item(stringify!($field), <Maybe<$kind> as Kind<_>>::get(py, &self.$field)?)?;)*
                $(fields.set_item(stringify!($group), self.$group.to_python(py)?)?;)*
                class::<Self>(py)?.call((), Some(&fields))
            }
        }
    };
}

dataclass! {
    System "SystemSettings" {
        min_connections_per_node: Connections,
        max_connections_per_node: Connections,
        conn_pools_per_node: Within<1, 255>,
        wait_for_connection_to_complete: Span,
        tend_timeout: Span,
        login_timeout: Span,
        max_socket_idle_time: Span,
        tend_interval: Span,
        num_tend_intervals_in_error_window: Number,
        max_errors_in_error_window: Number,
    } groups { transactions: Transactions, metrics: Metrics }
}

dataclass! {
    Transactions "TransactionSettings" {
        implicit_batch_write_transactions: Switch, sleep_between_attempts: Span, number_of_attempts: Attempts,
    } groups {}
}

dataclass! {
    Metrics "MetricsSettings" {
        enabled: Switch,
        latency_unit: Unit,
        latency_columns: Within<1, 64>,
        latency_shift: Within<1, 63>,
        export_interval: Interval,
        exporter: ExporterOrName,
        report_dir: Plain,
        report_size_limit: ReportSize,
        sampler_range: Number,
        sampler_threshold: Number,
        labels: Labels,
        operational_enabled: Switch,
        usage_enabled: Switch,
    } groups {}
}

fn class<T: Dataclass>(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("aerolane.system_settings")?.getattr(T::NAME)
}

/// How sessions carry out transactions that they begin and end themselves: `do_in_transaction`, and batches of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionRules {
    /// Whether a batch that writes several records of a strongly consistent namespace, outside of a transaction, becomes
    /// a transaction of its own.
    pub(crate) implicit_batch_writes: bool,
    /// The mean pause before another attempt.
    pub(crate) sleep_between_attempts: Duration,
    /// The most attempts, with the first one: 1 or more.
    pub(crate) attempts: u32,
}

impl TransactionRules {
    /// The rules that settings come to, with the defaults where these say nothing.
    pub(crate) fn of(settings: &Transactions) -> Self {
        let default = Self::default();
        Self {
            implicit_batch_writes: settings.implicit_batch_write_transactions.unwrap_or(default.implicit_batch_writes),
            sleep_between_attempts: settings.sleep_between_attempts.unwrap_or(default.sleep_between_attempts),
            attempts: settings.number_of_attempts.unwrap_or(default.attempts),
        }
    }

    /// As settings that leave nothing open.
    pub(crate) fn settings(self) -> Transactions {
        Transactions {
            implicit_batch_write_transactions: Some(self.implicit_batch_writes),
            sleep_between_attempts: Some(self.sleep_between_attempts),
            number_of_attempts: Some(self.attempts),
        }
    }
}

impl Default for TransactionRules {
    /// As in the SDK of Aerospike (1.0).
    fn default() -> Self {
        Self { implicit_batch_writes: true, sleep_between_attempts: Duration::from_millis(20), attempts: 10 }
    }
}

/// Checks a Python `TransactionSettings` or `MetricsSettings`.
#[pyfunction]
fn _check_settings(settings: &Bound<'_, PyAny>) -> PyResult<()> {
    if settings.is_instance(&class::<Transactions>(settings.py())?)? {
        return Transactions::from_python(settings).map(drop);
    }
    Metrics::from_python(settings).map(drop)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<Exporter>(module)?;
    module.add_function(wrap_pyfunction!(_check_settings, module)?)
}
