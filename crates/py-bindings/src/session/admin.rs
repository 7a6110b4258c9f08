//! What sessions and clusters do beside records: indexes and UDF modules. The commands are those of the native client.

/// Defines what sessions and clusters do with UDF modules, and the list of indexes, in a class that has `core()`.
macro_rules! modules {
    ($class:ident, $surface:ident) => {
        #[pymethods]
        impl $class {
            /// Registers a UDF module from its source, a str or bytes: `server_path` is its name on the servers, such as
            /// `"module.lua"`. Gives a `RegisterTask`, which waits until all nodes have it. For asyncio, an awaitable of it.
            ///
            /// Raises `InvalidArgumentError` for an empty source or one beyond 1 MiB, and for a name that no module can have;
            /// `UdfError` or another `AerospikeError` when the servers refuse the module.
            #[pyo3(signature = (body, server_path, language=None, *, policy=None))]
            pub(in crate::session) fn register_udf(
                &self,
                py: Python<'_>,
                body: &Bound<'_, PyAny>,
                server_path: &Bound<'_, PyAny>,
                language: Option<&Bound<'_, PyAny>>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "register_udf", || {
                    let (path, policy) = (argument("server_path", server_path)?, optional("policy", policy)?);
                    udf::register(py, self.core(), body, path, language, policy)
                })
            }

            /// Registers a UDF module from a file of this machine; otherwise as `register_udf`. The file is read when it is
            /// called.
            ///
            /// Raises `OSError` (`FileNotFoundError`, ..) when the file cannot be read.
            #[pyo3(signature = (client_path, server_path, language=None, *, policy=None))]
            pub(in crate::session) fn register_udf_from_file(
                &self,
                py: Python<'_>,
                client_path: &Bound<'_, PyAny>,
                server_path: &Bound<'_, PyAny>,
                language: Option<&Bound<'_, PyAny>>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "register_udf_from_file", || {
                    let (file, path) = (argument("client_path", client_path)?, argument("server_path", server_path)?);
                    let policy = optional("policy", policy)?;
                    udf::register_from_file(py, self.core(), file, path, language, policy)
                })
            }

            /// Registers a UDF module from a file that a Python package has in it (`importlib.resources`): `package` is the
            /// package's name, or the package itself, `resource` the file's name in it. Otherwise as `register_udf`.
            ///
            /// Raises `ModuleNotFoundError` for a package that is not there, `FileNotFoundError` for such a file.
            #[pyo3(signature = (package, resource, server_path, language=None, *, policy=None))]
            fn register_udf_from_resource(
                &self,
                py: Python<'_>,
                package: &Bound<'_, PyAny>,
                resource: &Bound<'_, PyAny>,
                server_path: &Bound<'_, PyAny>,
                language: Option<&Bound<'_, PyAny>>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "register_udf_from_resource", || {
                    let body = udf::resource(package, argument("resource", resource)?)?;
                    let (path, policy) = (argument("server_path", server_path)?, optional("policy", policy)?);
                    udf::register(py, self.core(), &body, path, language, policy)
                })
            }

            /// Removes a UDF module; gives a `UdfRemoveTask`. One that is not there is no error. For asyncio, an awaitable
            /// of the task.
            #[pyo3(signature = (server_path, *, policy=None))]
            pub(in crate::session) fn remove_udf(
                &self,
                py: Python<'_>,
                server_path: &Bound<'_, PyAny>,
                policy: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "remove_udf", || {
                    let (path, policy) = (argument("server_path", server_path)?, optional("policy", policy)?);
                    udf::remove(py, self.core(), path, policy)
                })
            }

            /// The UDF modules that the servers have: a list of dicts with `name`, `hash` and `type`. For asyncio, an
            /// awaitable of it.
            fn list_udf(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "list_udf", || Ok(udf::list_named(self.core())))
            }

            /// The secondary indexes that the servers have: a list of dicts, with `namespace`, `set`, `bin`, `name`, `type`,
            /// `index_type`, `context` and `state` where the servers say them, and `exp` for one on an expression. For
            /// asyncio, an awaitable of it.
            fn list_indexes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "list_indexes", || Ok(info::list_indexes(self.core())))
            }
        }
    };
}

/// Defines what sessions do with indexes, and their info commands.
macro_rules! indexes {
    ($class:ident, $surface:ident, $builder:ident) => {
        #[pymethods]
        impl $class {
            /// A secondary index of a data set, said step by step: an `IndexBuilder`.
            ///
            /// Code for the first versions of the SDK of Aerospike may give `dataset` by name, or the names of a namespace and a
            /// set: `index("test", "users")`.
            #[pyo3(signature = (dataset=None, set_name=None, *, namespace=None, behavior=None))]
            pub(in crate::session) fn index(
                &self,
                py: Python<'_>,
                dataset: Option<&Bound<'_, PyAny>>,
                set_name: Option<&Bound<'_, PyAny>>,
                namespace: Option<&Bound<'_, PyAny>>,
                behavior: Option<&Bound<'_, Behavior>>,
            ) -> PyResult<$builder> {
                // An index is the same whatever the behavior.
                let _ = behavior;
                Ok($builder::of(&self.0.0, &dataset_of(py, "index", dataset, set_name, namespace)?))
            }

            /// Creates a secondary index: on a bin, with `ctx` on what it selects there; or on what an `expression` evaluates
            /// to (a `FilterExpression`, or a text in the Aerospike Expression Language); or, without both, of the records of
            /// the set. `index_type` is needed but for an index of a set. Gives an `IndexTask`, which waits until it is
            /// built. For asyncio, an awaitable of it.
            ///
            /// Raises `InvalidArgumentError` for arguments that do not fit together.
            #[pyo3(signature = (
                dataset, index_name, bin_name=None, index_type=None, collection_type=None, ctx=None, expression=None
            ))]
            #[allow(clippy::too_many_arguments)] // those of the Python method
            fn create_index(
                &self,
                py: Python<'_>,
                dataset: &Bound<'_, PyAny>,
                index_name: &Bound<'_, PyAny>,
                bin_name: Option<&Bound<'_, PyAny>>,
                index_type: Option<&Bound<'_, PyAny>>,
                collection_type: Option<&Bound<'_, PyAny>>,
                ctx: Option<&Bound<'_, PyAny>>,
                expression: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "create_index", || {
                    let (index_name, bin_name) = (argument("index_name", index_name)?, optional("bin_name", bin_name)?);
                    let arguments = Arguments { index_name, bin_name, index_type, collection_type, ctx, expression };
                    arguments.create(py, &self.0.0, argument("dataset", dataset)?)
                })
            }

            /// Drops a secondary index; gives a `DropIndexTask`. One that is not there is no error. For asyncio, an awaitable
            /// of the task.
            fn drop_index(
                &self,
                py: Python<'_>,
                dataset: &Bound<'_, PyAny>,
                index_name: &Bound<'_, PyAny>,
            ) -> PyResult<Py<PyAny>> {
                Surface::$surface.run(py, self.core(), "drop_index", || {
                    let dataset: &Bound<'_, DataSet> = argument("dataset", dataset)?;
                    let (namespace, set) = dataset.get().names();
                    let name = argument("index_name", index_name)?;
                    index::drop_index(py, self.core(), namespace, Some(set), name, None)
                })
            }
        }
    };
}

pub(super) use {indexes, modules};
