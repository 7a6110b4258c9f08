//! A worker that applies payments to accounts, each exactly once, with a bounded number of calls in flight.
//!
//!     aerolane-embedded --port 3000 &
//!     cargo run -p aerolane --example tokio_worker -- 10000
//!
//! A write whose answer is lost is *in doubt*: repeating an addition could count it twice. So each payment is one request that adds
//! the amount and notes the payment's id in a map of the account; the server refuses an id that is there already, and the whole
//! request with it. That makes it safe to repeat.

use std::error::Error as StdError;
use std::time::Duration;

use aerolane::concurrent::concurrent;
use aerolane::operations::{self, MapOrder, maps};
use aerolane::{
    Client, ClientPolicy, Error, MapPolicy, MapWriteFlags, Operation, ResultCode, WritePolicy, as_bin, as_key,
};

/// Calls in flight.
const CONCURRENCY: usize = 64;
/// How often a payment is tried before it is given back as failed.
const TRIES: u32 = 5;

/// An amount for an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    /// Its own number: a payment that comes twice has it twice.
    pub id: i64,
    /// The account that it is for.
    pub account: i64,
    /// The amount.
    pub cents: i64,
}

/// What became of a payment.
#[derive(Debug)]
pub enum Outcome {
    /// It was applied now.
    Applied,
    /// An earlier try, or another worker, has applied it.
    AppliedBefore,
    /// It was not applied, or (`error.in_doubt()`) it is not known: hand it in again.
    Failed(Payment, Error),
}

/// Applies all payments; gives the outcomes in order.
pub async fn work(client: &Client, payments: impl IntoIterator<Item = Payment>) -> Result<Vec<Outcome>, Error> {
    let calls = payments.into_iter().map(|payment| apply(client, payment));
    Ok(concurrent(CONCURRENCY, calls)?.collect_all().await)
}

/// Applies one payment, for as long as that has a chance.
async fn apply(client: &Client, payment: Payment) -> Outcome {
    let policy = WritePolicy::default();
    let key = as_key!("test", "accounts", payment.account);
    let once = once(payment);
    for tried in 1.. {
        match client.operate(&policy, &key, &once).await {
            Ok(_) => return Outcome::Applied,
            Err(error) if error.matches(&[ResultCode::ElementExists]) => return Outcome::AppliedBefore,
            // In doubt or not: the map decides.
            Err(error) if tried < TRIES && (error.in_doubt() || error.is_client_timeout()) => {
                tokio::time::sleep(Duration::from_millis(10) * tried).await;
            }
            Err(error) => return Outcome::Failed(payment, error),
        }
    }
    unreachable!("the last try returns")
}

/// One request, carried out whole or not at all.
fn once(payment: Payment) -> [Operation; 2] {
    let create_only = MapPolicy::new(MapOrder::KeyOrdered, MapWriteFlags::CREATE_ONLY);
    [
        maps::put(&create_only, "seen", payment.id.into(), payment.cents.into()),
        operations::add(&as_bin!("balance", payment.cents)),
    ]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError>> {
    let count = std::env::args().nth(1).map_or(Ok(1000), |count| count.parse())?;
    let hosts = std::env::var("AEROSPIKE_HOSTS").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
    let client = Client::new(&ClientPolicy::default(), &hosts).await?;
    let payments = (0..count).map(|id| Payment { id, account: id % 100, cents: 100 });
    let (mut applied, mut before) = (0, 0);
    for outcome in work(&client, payments).await? {
        match outcome {
            Outcome::Applied => applied += 1,
            Outcome::AppliedBefore => before += 1,
            Outcome::Failed(payment, error) => eprintln!("{payment:?}: {error}"),
        }
    }
    println!("{applied} payments applied, {before} had been applied before");
    client.close().await?;
    Ok(())
}
