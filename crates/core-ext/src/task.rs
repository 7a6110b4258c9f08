//! Tasks: what servers go on with after a call has returned, such as building an index. The types are aerospike-core's; the
//! trait [`Task`] is ours, so that waiting fails with our [`Error`].

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use aerospike_core::task as core;
pub use aerospike_core::task::{DropIndexTask, ExecuteTask, IndexTask, RegisterTask, Status, UdfRemoveTask};

use crate::error::{Error, Result};

type Boxed<'a> = Pin<Box<dyn Future<Output = Result<Status>> + Send + 'a>>;

/// A task of the servers.
///
/// ```no_run
/// use aerolane::{AdminPolicy, Client, IndexType, Result, Task};
///
/// # async fn demo(client: &Client, policy: &AdminPolicy) -> Result<()> {
/// let task = client.drop_index(policy, "test", "users", "by_age").await?;
/// task.wait_till_complete(None).await?;
/// # Ok(())
/// # }
/// ```
pub trait Task: sealed::Sealed {
    /// How far it is.
    fn query_status(&self) -> Boxed<'_>;

    /// Waits for its end, for at most `timeout`; asks once a second.
    fn wait_till_complete(&self, timeout: Option<Duration>) -> Boxed<'_>;
}

pub(crate) mod sealed {
    use super::core;

    pub trait Sealed {
        fn as_core(&self) -> &(dyn core::Task + Sync);
    }
}

macro_rules! tasks {
    ($($task:ident)*) => {$(
        impl sealed::Sealed for $task {
            fn as_core(&self) -> &(dyn core::Task + Sync) {
                self
            }
        }

        impl Task for $task {
            fn query_status(&self) -> Boxed<'_> {
                Box::pin(async move { core::Task::query_status(self).await.map_err(Error::from) })
            }

            fn wait_till_complete(&self, timeout: Option<Duration>) -> Boxed<'_> {
                Box::pin(async move { core::Task::wait_till_complete(self, timeout).await.map_err(Error::from) })
            }
        }
    )*};
}

tasks! { DropIndexTask ExecuteTask IndexTask RegisterTask UdfRemoveTask }
