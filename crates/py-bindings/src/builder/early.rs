//! What builders are told under the names that the first versions of the SDK of Aerospike had for it.

/// Defines the names of what all chains have.
macro_rules! early_chain {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Same as `include_missing_keys`. For code written for the first versions of the Aerospike SDK.
            fn respond_all_keys(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().with(slf.py(), "respond_all_keys", |chain| chain.include_missing_keys = true)?;
                Ok(slf)
            }
        }
    };
}

/// Defines the names of what writes.
macro_rules! early_segment {
    ($class:ident) => {
        early_chain!($class);

        #[pymethods]
        impl $class {
            /// Same as `put`. For code written for the first versions of the Aerospike SDK.
            fn set_bins<'py>(slf: Bound<'py, Self>, bins: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                Self::put(slf, bins)
            }

            /// Same as `add`. For code written for the first versions of the Aerospike SDK.
            fn increment_by<'py>(
                slf: Bound<'py, Self>,
                bin_name: &Bound<'py, PyString>,
                value: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                Self::add(slf, bin_name, value)
            }
        }
    };
}

/// Defines the names of what reads.
macro_rules! early_query {
    ($class:ident, $surface:ident) => {
        early_chain!($class);

        #[pymethods]
        impl $class {
            /// Same as `where` with a `FilterExpression`. For code written for the first versions of the Aerospike SDK.
            fn filter_expression<'py>(
                slf: Bound<'py, Self>,
                expression: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let none = PyTuple::empty(slf.py());
                Self::r#where(slf, expression, &none)
            }

            /// Same as `limit`. For code written for the first versions of the Aerospike SDK.
            fn max_records<'py>(slf: Bound<'py, Self>, max_records: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                Self::limit(slf, max_records)
            }

            /// Reads only these partitions, which must be consecutive. For code written for the first versions of the
            /// Aerospike SDK; `on_partition_range` is shorter.
            #[pyo3(signature = (*partition_ids))]
            fn on_partitions<'py>(
                slf: Bound<'py, Self>,
                partition_ids: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                let (first, count) = early::neighbors(partition_ids)?;
                let filter = Py::new(slf.py(), PartitionFilter::range(slf.py(), first, count)?)?;
                Self::partition(slf, filter.bind(partition_ids.py()))
            }

            /// Sets how long the query is expected to take, a `QueryDuration`. Only for queries of a data set. For code
            /// written for the first versions of the Aerospike SDK; `with_hint(QueryHint(query_duration=..))` does the
            /// same.
            fn expected_duration<'py>(
                slf: Bound<'py, Self>,
                duration: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let duration = Named::from_python(duration, "duration")?;
                slf.get().of_set(slf.py(), "expected_duration", |query| {
                    query.duration = Some(duration);
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Sets which node of a partition to ask, a `Replica`, instead of what the behavior of the session says.
            /// Only for queries of a data set. For code written for the first versions of the Aerospike SDK.
            fn replica<'py>(slf: Bound<'py, Self>, replica: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let replica = Named::from_python(replica, "replica")?;
                slf.get().of_set(slf.py(), "replica", |query| {
                    query.replica = Some(replica);
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Sets the indexes that may serve the text of `where()`, an `IndexContext` of `aerolane.ael`, instead of
            /// those of the cluster. Only for queries of a data set. For code written for the first versions of the
            /// Aerospike SDK.
            fn with_index_context<'py>(
                slf: Bound<'py, Self>,
                index_context: &Bound<'py, IndexContext>,
            ) -> PyResult<Bound<'py, Self>> {
                let (py, context) = (slf.py(), index_context.get());
                slf.get().of_set(py, "with_index_context", |query| {
                    if query.namespace() != context.namespace {
                        let text = format!(
                            "the indexes are of the namespace {:?}, the query is of {:?}",
                            context.namespace,
                            query.namespace()
                        );
                        return Err(errors::invalid_argument(py, text));
                    }
                    query.indexes = Some(context.usable());
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Uses a `QueryPolicy` instead of what the behavior of the session says. Other settings of the builder
            /// take precedence over it. Only for queries of a data set. For code written for the first versions of the
            /// Aerospike SDK.
            fn with_policy<'py>(slf: Bound<'py, Self>, policy: &Bound<'py, QueryPolicy>) -> PyResult<Bound<'py, Self>> {
                let policy = policy.get().snapshot();
                slf.get().of_set(slf.py(), "with_policy", |query| {
                    query.given = Some(policy);
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Uses a `ReadPolicy` instead of what the behavior of the session says, to read records by their keys.
            /// Other settings of the builder take precedence over it. For code written for the first versions of the
            /// Aerospike SDK.
            fn with_read_policy<'py>(
                slf: Bound<'py, Self>,
                policy: &Bound<'py, ReadPolicy>,
            ) -> PyResult<Bound<'py, Self>> {
                let (py, policy) = (slf.py(), policy.get().snapshot());
                let mut chain = slf.get().chain.lock_py_attached(py);
                if chain.query(py)?.is_some() {
                    let text = "with_read_policy() is for records that are given by their keys: with_policy() takes a QueryPolicy";
                    return Err(errors::invalid_argument(py, text));
                }
                let before = chain.defaults_mut().reads_by.replace(policy);
                drop((chain, before));
                Ok(slf)
            }

            /// Takes timeouts, retries and similar settings from a policy (`ReadPolicy`, `QueryPolicy`, and so on)
            /// instead of the behavior of the session. Other settings of the builder take precedence over it. Only for
            /// queries of a data set. For code written for the first versions of the Aerospike SDK.
            fn base_policy<'py>(
                slf: Bound<'py, Self>,
                base_policy: &Bound<'py, BasePolicy>,
            ) -> PyResult<Bound<'py, Self>> {
                let base = Box::new(BasePolicy::shared_part(base_policy)?);
                slf.get().of_set(slf.py(), "base_policy", |query| {
                    query.base = Some(base);
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Sets the operations of `aerolane.native` for `execute_background_task`. They must write. Only for
            /// queries of a data set. For code written for the first versions of the Aerospike SDK; see
            /// `background_task()` of the session.
            fn with_write_operations<'py>(
                slf: Bound<'py, Self>,
                operations: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let (py, mut ops) = (slf.py(), background::writing(slf.py(), operations)?);
                slf.get().of_set(py, "with_write_operations", |query| {
                    match &mut query.writes {
                        Some(writes) => writes.add(py, std::mem::take(&mut ops))?,
                        none => *none = Some(Box::new(std::mem::take(&mut ops))),
                    }
                    Ok(())
                })?;
                Ok(slf)
            }

            /// Starts a background task that applies `with_write_operations` to all records that the query selects.
            /// Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of
            /// the Aerospike SDK; see `background_task()` of the session.
            fn execute_background_task(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let name = "execute_background_task";
                background::execute_query(py, &self.chain, name, || Ok(None), Surface::$surface)
            }

            /// Starts a background task that applies a function of a UDF module to all records that the query selects.
            /// Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of
            /// the Aerospike SDK; see `background_task()` of the session.
            #[pyo3(signature = (package_name, function_name, args=None))]
            fn execute_udf_background_task(
                &self,
                py: Python<'_>,
                package_name: &Bound<'_, PyString>,
                function_name: &Bound<'_, PyString>,
                args: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                let apply = || function(py, package_name.to_str()?, function_name.to_str()?, args).map(Some);
                background::execute_query(py, &self.chain, "execute_udf_background_task", apply, Surface::$surface)
            }
        }
    };
}

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors;
use crate::policy::kinds::whole_number;

pub(super) use {early_chain, early_query, early_segment};

/// The first of some partitions, and their number.
///
/// # Errors
/// There are none, one of them does not exist, or they do not follow each other.
pub(super) fn neighbors(ids: &Bound<'_, PyTuple>) -> PyResult<(usize, usize)> {
    let mut parts = ids.iter().map(|id| whole_number(&id, "partition_ids", 0, 4095)).collect::<PyResult<Vec<_>>>()?;
    parts.sort_unstable();
    parts.dedup();
    match (parts.first(), parts.last()) {
        (Some(first), Some(last)) if (last - first) as usize + 1 == parts.len() => Ok((*first as usize, parts.len())),
        (Some(_), _) => {
            let text = "the partitions of a query follow each other: begin a query for each row of neighbors";
            Err(errors::invalid_argument(ids.py(), text))
        }
        (None, _) => Err(errors::invalid_argument(ids.py(), "on_partitions() takes at least one partition: 0 to 4095")),
    }
}
