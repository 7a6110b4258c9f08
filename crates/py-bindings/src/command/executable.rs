//! Each command once, for a method and for its `_blocking` variant.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::core::ClientCore;
use crate::{errors, host};

/// A command that can be started in an event loop, or carried out on the calling thread.
pub(crate) trait Executable: Sized {
    /// Starts it: gives an awaitable of its result.
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>>;

    /// Carries it out on this thread: gives its result.
    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>>;
}

/// A command that the control plane carries out.
pub(crate) struct Control<F, C> {
    pub(crate) future: F,
    /// Makes the result.
    pub(crate) convert: C,
}

impl<T, F, C> Executable for Control<F, C>
where
    T: Send + 'static,
    F: Future<Output = aerolane::Result<T>> + Send + 'static,
    C: FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check_open(py)?;
        host::spawn(py, core, timed(self.future), self.convert)
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        let taken = block_on(py, core, timed(self.future))?.map_err(|e| errors::to_py(py, &e))?;
        (self.convert)(py, taken)
    }
}

/// The future, whose error tells the time from the call to the failure, also where nobody has measured it.
pub(crate) fn timed<T>(future: impl Future<Output = aerolane::Result<T>>) -> impl Future<Output = aerolane::Result<T>> {
    let begun = Instant::now();
    async move {
        future.await.map_err(|error| match error.elapsed() {
            None => error.with_elapsed(begun.elapsed()),
            Some(_) => error,
        })
    }
}

/// One of two commands.
pub(crate) enum Either<A, B> {
    This(A),
    That(B),
}

impl<A: Executable, B: Executable> Executable for Either<A, B> {
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        match self {
            Self::This(this) => this.start(py, core),
            Self::That(that) => that.start(py, core),
        }
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        match self {
            Self::This(this) => this.block(py, core),
            Self::That(that) => that.block(py, core),
        }
    }
}

/// Runs a future on this thread, without the GIL. Signals are looked after: a Ctrl-C ends the wait.
pub(crate) fn block_on<F>(py: Python<'_>, core: &Arc<ClientCore>, future: F) -> PyResult<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    core.check(py)?;
    let outcome = py.detach(|| {
        core.raw.cluster().block_on(async {
            tokio::select! {
                biased;
                output = future => Ok(output),
                error = interrupted() => Err(error),
            }
        })
    });
    outcome.map_err(|e| errors::to_py(py, &e))?
}

/// Ready when a signal handler of Python has raised an exception. Only on Python's main thread it ever is.
#[allow(clippy::redundant_closure)] // the method itself is not general enough
pub(crate) async fn interrupted() -> PyErr {
    const LOOK_EVERY: Duration = Duration::from_millis(50);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if let Err(error) = Python::attach(|py| Python::check_signals(py)) {
            return error;
        }
    }
}

/// Defines the methods of a class in pairs: each line names the method, its blocking twin, the Python signature, the
/// arguments, and the command, which gets `py`, the core and the arguments in brackets. What is wrong with them is told where the
/// call is awaited; by the twin, at once.
macro_rules! twins {
    ($class:ident { $($rest:tt)* } $(
        $(#[$meta:meta])*
        $name:ident, $blocking:ident $signature:tt ($($arg:ident: $kind:ty),* $(,)?) => $command:path [$($pass:expr),*];
    )*) => {
        #[pymethods]
        impl $class {
            $($rest)*
            $(
                $(#[$meta])*
                #[pyo3(signature = $signature)]
                #[allow(clippy::too_many_arguments)] // the arguments of the Python method
                fn $name(&self, py: Python<'_>, $($arg: Option<&Bound<'_, PyAny>>),*) -> PyResult<Py<PyAny>> {
                    $crate::host::at_await(py, stringify!($name), || {
                        let none = pyo3::types::PyNone::get(py);
                        $(let $arg: $kind = $crate::argument::argument(stringify!($arg), $arg.unwrap_or(&none))?;)*
                        $command(py, &self.core, $($pass),*)?.start(py, &self.core)
                    })
                }

                $(#[$meta])*
                #[pyo3(signature = $signature)]
                #[allow(clippy::too_many_arguments)] // the arguments of the Python method
                fn $blocking(&self, py: Python<'_>, $($arg: $kind),*) -> PyResult<Py<PyAny>> {
                    $command(py, &self.core, $($pass),*)?.block(py, &self.core)
                }
            )*
        }
    };
}

pub(crate) use twins;
