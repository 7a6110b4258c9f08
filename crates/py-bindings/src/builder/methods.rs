//! What builders of several classes have in common, as macros: they name what the module that uses them has imported.

/// Defines the methods that all builders have: what holds for the whole chain, and the terminals.
macro_rules! row_methods {
    ($class:ident, $surface:ident) => {
        #[pymethods]
        impl $class {
            /// Sets the filter for all operations that have none of their own. Takes the same arguments as `where`.
            #[pyo3(signature = (expression, *params))]
            fn default_where<'py>(
                slf: Bound<'py, Self>,
                expression: &Bound<'py, PyAny>,
                params: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                let filter = {
                    let shared = slf.get().shared(slf.py(), "default_where")?;
                    self::expression(shared.borrow(), expression, params)?
                };
                slf.get().with(slf.py(), "default_where", |chain| chain.defaults_mut().filter = Some(filter))?;
                Ok(slf)
            }

            /// Makes the whole chain part of a transaction. `None` keeps it out of the session's transaction.
            fn with_txn<'py>(slf: Bound<'py, Self>, txn: Option<&Bound<'py, Txn>>) -> PyResult<Bound<'py, Self>> {
                let txn = txn.map(|txn| txn.get().shared());
                slf.get().with(slf.py(), "with_txn", |chain| chain.whole.txn = Membership::Own(txn))?;
                Ok(slf)
            }

            /// Turns records for which a filter is false into failures (`FilteredOutError`).
            fn fail_on_filtered_out(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().with(slf.py(), "fail_on_filtered_out", |chain| chain.fail_on_filtered_out = true)?;
                Ok(slf)
            }

            /// Sets the time to live, in seconds, for all operations that set none.
            fn default_expire_record_after_seconds<'py>(
                slf: Bound<'py, Self>,
                seconds: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::seconds(seconds)?;
                slf.get().with(slf.py(), "default_expire_record_after_seconds", |chain| {
                    chain.defaults_mut().expiration = Some(expiration)
                })?;
                Ok(slf)
            }

            /// Sets the time to live, as a timedelta, for all operations that set none.
            fn default_expire_record_after<'py>(
                slf: Bound<'py, Self>,
                duration: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::after(duration)?;
                slf.get().with(slf.py(), "default_expire_record_after", |chain| {
                    chain.defaults_mut().expiration = Some(expiration)
                })?;
                Ok(slf)
            }

            /// Sets the expiration time, as a datetime, for all operations that set none.
            fn default_expire_record_at<'py>(
                slf: Bound<'py, Self>,
                when: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::at(when)?;
                slf.get().with(slf.py(), "default_expire_record_at", |chain| {
                    chain.defaults_mut().expiration = Some(expiration)
                })?;
                Ok(slf)
            }

            /// Keeps records from expiring, for all operations that set no expiration.
            fn default_never_expire(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let never = Some(aerospike_core::Expiration::Never);
                slf.get().with(slf.py(), "default_never_expire", |chain| chain.defaults_mut().expiration = never)?;
                Ok(slf)
            }

            /// Leaves the expiration of records as it is, for all operations that set none.
            fn default_with_no_change_in_expiration(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let same = Some(aerospike_core::Expiration::DontUpdate);
                slf.get().with(slf.py(), "default_with_no_change_in_expiration", |chain| {
                    chain.defaults_mut().expiration = same
                })?;
                Ok(slf)
            }

            /// Uses the server's default time to live, for all operations that set none.
            fn default_expiry_from_server_default(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let server = Some(aerospike_core::Expiration::NamespaceDefault);
                slf.get().with(slf.py(), "default_expiry_from_server_default", |chain| {
                    chain.defaults_mut().expiration = server
                })?;
                Ok(slf)
            }

            /// Executes the chain and returns its results, a `RecordStream`. With asyncio, an awaitable of it.
            ///
            /// `on_error` decides what happens to failures. By default, a call about one record raises, and a call
            /// about several returns the failures among its results. `ErrorStrategy.IN_STREAM` always returns them; a
            /// callable is called as `(key, index, exception)` for each failure instead.
            #[pyo3(signature = (on_error=None))]
            fn execute(&self, py: Python<'_>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                execute(py, || self.shared(py, "execute"), on_error, Surface::$surface, TerminalKind::Stream)
            }

            /// Executes the chain and returns a `RecordStream` with the results as they arrive, in any order; `index`
            /// tells which key a result is about. With asyncio, await it, or use
            /// `async with builder.stream() as results`.
            ///
            /// There is a result for each key, including keys without a record and records for which a filter is false.
            /// Operations whose results were not read before the stream was closed may or may not have been executed.
            /// Unlike with `execute`, a chain about several records does not get a transaction of its own. `on_error`
            /// works as in `execute`, but a callable is also called for missing and filtered records.
            #[pyo3(signature = (on_error=None))]
            fn stream(&self, py: Python<'_>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                Surface::$surface.start_stream(py, || self.shared(py, "stream"), on_error)
            }

            /// Same as `stream`. For code written for the first versions of the Aerospike SDK.
            #[pyo3(signature = (on_error=None))]
            fn execute_stream(&self, py: Python<'_>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                Surface::$surface.start_stream(py, || self.shared(py, "execute_stream"), on_error)
            }

            /// Executes the chain and returns its first result, or `None` if there is none. `on_error` works as in
            /// `execute`.
            #[pyo3(signature = (on_error=None))]
            fn first(&self, py: Python<'_>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                execute(py, || self.shared(py, "execute"), on_error, Surface::$surface, TerminalKind::First)
            }

            /// Executes the chain and returns its first result.
            ///
            /// Raises `RecordNotFoundError` if there is no result, and the failure if the result is one. `on_error`
            /// works as in `execute`.
            #[pyo3(signature = (on_error=None))]
            fn first_or_raise(&self, py: Python<'_>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                execute(py, || self.shared(py, "execute"), on_error, Surface::$surface, TerminalKind::FirstOrRaise)
            }
        }

        impl $class {
            /// Changes what holds for the whole chain.
            fn with(&self, py: Python<'_>, method: &str, change: impl FnOnce(&mut Chain)) -> PyResult<()> {
                let chain = self.shared(py, method)?;
                let mut chain = chain.lock_py_attached(py);
                chain.check(py)?;
                change(&mut chain);
                Ok(())
            }
        }
    };
}

/// Defines what builders have beside these that do not write rows.
macro_rules! chain_methods {
    ($class:ident, $surface:ident) => {
        row_methods!($class, $surface);
        conditional!($class);

        #[pymethods]
        impl $class {
            /// Also returns results for keys that have no record.
            fn include_missing_keys(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().with(slf.py(), "include_missing_keys", |chain| chain.include_missing_keys = true)?;
                Ok(slf)
            }

            /// Adds an operation of `aerolane.native` (`ListOperation`, `MapOperation`, and so on).
            fn add_operation<'py>(slf: Bound<'py, Self>, op: &Bound<'py, BaseOperation>) -> PyResult<Bound<'py, Self>> {
                let ops = Ops::of(op.get());
                slf.get().chain.lock_py_attached(slf.py()).add(slf.py(), "add_operation", ops)?;
                Ok(slf)
            }
        }
    };
}

/// Defines the condition of an operation, and what shows a builder to people.
macro_rules! conditional {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Applies the current operation only to records for which a filter is true. The filter is a
            /// `FilterExpression`, or text in the Aerospike Expression Language with the values of its placeholders:
            /// `where("$.age > ?0", 25)`. Can be called once for each operation.
            ///
            /// Raises `AelParseException` if the text is not valid, or needs a newer server than the cluster has.
            #[pyo3(signature = (expression, *params))]
            fn r#where<'py>(
                slf: Bound<'py, Self>,
                expression: &Bound<'py, PyAny>,
                params: &Bound<'py, PyTuple>,
            ) -> PyResult<Bound<'py, Self>> {
                let filter = self::expression(&slf.get().chain, expression, params)?;
                let text = chain::text(&slf.get().chain, expression, params)?;
                slf.get().chain.lock_py_attached(slf.py()).filter(slf.py(), filter, text)?;
                Ok(slf)
            }

            fn __repr__(&self, py: Python<'_>) -> String {
                self.chain.lock_py_attached(py).describe(stringify!($class))
            }
        }

        impl $class {
            /// The chain.
            #[allow(clippy::unnecessary_wraps)] // as that of rows, which there may not be yet
            fn shared(&self, _py: Python<'_>, _method: &str) -> PyResult<&Shared> {
                Ok(&self.chain)
            }
        }
    };
}

/// Defines the methods that say of one operation when records expire, and what deletes leave.
macro_rules! expiring {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Sets the time to live in seconds, 1 to 315,360,000.
            fn expire_record_after_seconds<'py>(
                slf: Bound<'py, Self>,
                seconds: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::seconds(seconds)?;
                slf.get().shared(slf.py(), "expire_record_after_seconds")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "expire_record_after_seconds",
                    expiration,
                )?;
                Ok(slf)
            }

            /// Sets the time to live as a timedelta.
            fn expire_record_after<'py>(
                slf: Bound<'py, Self>,
                duration: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::after(duration)?;
                slf.get().shared(slf.py(), "expire_record_after")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "expire_record_after",
                    expiration,
                )?;
                Ok(slf)
            }

            /// Sets the expiration time as a datetime. One without a time zone is local time.
            fn expire_record_at<'py>(slf: Bound<'py, Self>, when: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
                let expiration = expiration::at(when)?;
                slf.get().shared(slf.py(), "expire_record_at")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "expire_record_at",
                    expiration,
                )?;
                Ok(slf)
            }

            /// Keeps the records from expiring.
            fn never_expire(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let never = aerospike_core::Expiration::Never;
                slf.get().shared(slf.py(), "never_expire")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "never_expire",
                    never,
                )?;
                Ok(slf)
            }

            /// Leaves the expiration of the records as it is.
            fn with_no_change_in_expiration(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let same = aerospike_core::Expiration::DontUpdate;
                slf.get().shared(slf.py(), "with_no_change_in_expiration")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "with_no_change_in_expiration",
                    same,
                )?;
                Ok(slf)
            }

            /// Uses the server's default time to live.
            fn expiry_from_server_default(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                let server = aerospike_core::Expiration::NamespaceDefault;
                slf.get().shared(slf.py(), "expiry_from_server_default")?.lock_py_attached(slf.py()).expire(
                    slf.py(),
                    "expiry_from_server_default",
                    server,
                )?;
                Ok(slf)
            }
        }

        durable!($class);
    };
}

/// Defines the methods that say what deletes leave.
macro_rules! durable {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Leaves a tombstone when the current operation deletes a record (Enterprise Edition).
            fn with_durable_delete(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().shared(slf.py(), "with_durable_delete")?.lock_py_attached(slf.py()).durable_delete(
                    slf.py(),
                    "with_durable_delete",
                    true,
                )?;
                Ok(slf)
            }

            /// Leaves no tombstone when the current operation deletes a record.
            fn without_durable_delete(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().shared(slf.py(), "without_durable_delete")?.lock_py_attached(slf.py()).durable_delete(
                    slf.py(),
                    "without_durable_delete",
                    false,
                )?;
                Ok(slf)
            }

            /// Leaves a tombstone when records are deleted, for all operations that do not say otherwise (Enterprise
            /// Edition).
            fn default_with_durable_delete(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().with(slf.py(), "default_with_durable_delete", |chain| {
                    chain.defaults_mut().durable_delete = Some(true)
                })?;
                Ok(slf)
            }

            /// Leaves no tombstone when records are deleted, for all operations that do not say otherwise.
            fn default_without_durable_delete(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
                slf.get().with(slf.py(), "default_without_durable_delete", |chain| {
                    chain.defaults_mut().durable_delete = Some(false)
                })?;
                Ok(slf)
            }
        }
    };
}

/// Defines what writes the value of an expression: one method for each kind of write.
macro_rules! expression_writes {
    ($class:ident: $($(#[$doc:meta])* $name:ident $flags:expr;)*) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[pyo3(signature = (
                    bin_name, expression, *, ignore_op_failure=false, ignore_eval_failure=false, delete_if_null=false
                ))]
                fn $name<'py>(
                    slf: Bound<'py, Self>,
                    bin_name: &Bound<'py, PyString>,
                    expression: &Bound<'py, PyAny>,
                    ignore_op_failure: bool,
                    ignore_eval_failure: bool,
                    delete_if_null: bool,
                ) -> PyResult<Bound<'py, Self>> {
                    let how = (ignore_op_failure, ignore_eval_failure, delete_if_null);
                    let target = BinTarget::new(&slf.get().chain, bin_name);
                    target.check(stringify!($name))?;
                    let operation = scalar::write_from(&target, expression, $flags, how)?;
                    slf.get().does(slf.py(), stringify!($name), &operation)?;
                    Ok(slf)
                }
            )*
        }
    };
}

pub(super) use {chain_methods, conditional, durable, expiring, expression_writes, row_methods};
