//! The conditions of one node, and the line of its requests.
//!
//! Service is first come, first served with a fixed number of places. When a request arrives, all requests before it have
//! their times already, so its own are known at once: it begins when the first place becomes free. So there is no list of
//! those who wait and nobody to wake them; each connection sets a timer for its own request.

use super::{Conditions, KINDS, Latency, ServiceKind};
use crate::random::Seed;
use parking_lot::Mutex;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// When a request is in service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Booking {
    /// Before this it waits in line.
    pub(crate) begin: Instant,
    /// Now it may be answered.
    pub(crate) end: Instant,
}

/// What a connection needs to know of its node's conditions.
#[derive(Debug)]
pub(crate) struct Share {
    /// Changes with the conditions.
    pub(crate) version: u64,
    /// Of this connection.
    pub(crate) latency: Latency,
    /// Whether requests are to be booked.
    pub(crate) have_service: bool,
    /// Draws the jitter of this connection.
    pub(crate) generator: Xoshiro256PlusPlus,
}

impl Share {
    /// Whether there is neither a service time nor a latency.
    pub(crate) fn is_ideal(&self) -> bool {
        !self.have_service && self.latency == Latency::ZERO
    }
}

/// The conditions of one node.
#[derive(Debug)]
pub(crate) struct NodeConditions {
    /// Counts changes. 0: there have never been any conditions.
    version: AtomicU64,
    seed: Seed,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    conditions: Conditions,
    slots: ServiceSlots,
    /// Connections that have come under these conditions.
    connections: u64,
}

impl NodeConditions {
    /// Conditions of a node.
    pub(crate) fn new(seed: Seed, conditions: Conditions) -> Self {
        let version = AtomicU64::new(u64::from(!conditions.are_ideal()));
        let slots = ServiceSlots::new(&conditions, seed);
        Self { version, seed, state: Mutex::new(State { conditions, slots, connections: 0 }) }
    }

    /// Changes with the conditions: the only thing that the normal path looks at, once per turn of a connection.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(crate) fn current(&self) -> Conditions {
        self.state.lock().conditions.clone()
    }

    /// Changes the conditions. Requests that are in service or in line keep their times, and their places.
    pub(crate) fn set(&self, conditions: &Conditions) {
        let mut state = self.state.lock();
        let busy = std::mem::take(&mut state.slots.busy);
        state.slots = ServiceSlots { busy, ..ServiceSlots::new(conditions, self.seed) };
        state.conditions = conditions.clone();
        state.connections = 0;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Lets a connection come under the conditions as they are now.
    pub(crate) fn join(&self) -> Share {
        let mut state = self.state.lock();
        let number = state.connections;
        state.connections += 1;
        let conditions = &state.conditions;
        Share {
            version: self.version(),
            latency: conditions.network(),
            have_service: conditions.have_service(),
            generator: self.seed.generator(conditions.first_seed(), KINDS as u64 + number),
        }
    }

    /// Draws the service time of a request, and puts the request in line.
    pub(crate) fn book(&self, kind: ServiceKind, arrival: Instant) -> Booking {
        let mut state = self.state.lock();
        let State { conditions, slots, .. } = &mut *state;
        slots.book(conditions, kind, arrival)
    }
}

/// The places of a node.
#[derive(Debug)]
struct ServiceSlots {
    /// When each of the places in use becomes free.
    busy: BinaryHeap<Reverse<Instant>>,
    generators: [Xoshiro256PlusPlus; KINDS],
}

impl ServiceSlots {
    fn new(conditions: &Conditions, seed: Seed) -> Self {
        let generator = |kind: usize| seed.generator(conditions.first_seed(), kind as u64);
        Self { busy: BinaryHeap::new(), generators: std::array::from_fn(generator) }
    }

    fn book(&mut self, conditions: &Conditions, kind: ServiceKind, arrival: Instant) -> Booking {
        let time = conditions.times().get(kind).sample(&mut self.generators[kind.index()]);
        while self.busy.peek().is_some_and(|Reverse(free)| *free <= arrival) {
            self.busy.pop();
        }
        let mut begin = arrival;
        // More than one place too many is in use only after the limit was lowered.
        while self.busy.len() >= conditions.limit() {
            let Some(Reverse(free)) = self.busy.pop() else { break };
            begin = begin.max(free);
        }
        let end = begin + time;
        self.busy.push(Reverse(end));
        Booking { begin, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::ServiceTime;
    use proptest::prelude::*;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn conditions(text: &str) -> Conditions {
        text.parse().unwrap()
    }

    /// Begin and end in milliseconds after `start`.
    fn book(node: &NodeConditions, start: Instant, arrival: u32) -> (u128, u128) {
        let Booking { begin, end } = node.book(ServiceKind::Read, start + arrival * MS);
        ((begin - start).as_millis(), (end - start).as_millis())
    }

    const fn of_node(node: u64) -> Seed {
        Seed { cluster: 0, node }
    }

    #[test]
    fn requests_above_the_limit_wait_for_the_first_free_place() {
        let node = NodeConditions::new(of_node(1), conditions("service-time=10ms;in-service=2"));
        let start = Instant::now();
        let bookings: Vec<_> = [0, 3, 4, 5, 13, 40].map(|arrival| book(&node, start, arrival)).to_vec();
        assert_eq!(bookings, [(0, 10), (3, 13), (10, 20), (13, 23), (20, 30), (40, 50)]);
    }

    #[test]
    fn a_request_without_service_time_waits_for_a_place_too() {
        let node = NodeConditions::new(of_node(1), conditions("service-time=write=10ms;in-service=1"));
        let start = Instant::now();
        assert_eq!(book(&node, start, 0), (0, 0));
        assert_eq!(node.book(ServiceKind::Write, start).end, start + 10 * MS);
        assert_eq!(book(&node, start, 1), (10, 10));
    }

    #[test]
    fn changes_apply_to_what_comes_after_them() {
        let node = NodeConditions::new(of_node(1), conditions("service-time=10ms;in-service=3"));
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(book(&node, start, 0), (0, 10));
        }
        assert_eq!(node.version(), 1);
        node.set(&conditions("service-time=1ms;in-service=1"));
        assert_eq!(node.version(), 2);
        // Three places are still taken; the only one that is left is free when all of them are.
        assert_eq!(book(&node, start, 0), (10, 11));
        assert_eq!(book(&node, start, 0), (11, 12));
    }

    #[test]
    fn setting_conditions_begins_the_random_numbers_anew() {
        let random = conditions("service-time=read=exp:80us,write=exp:80us;seed=5;latency=1ms~1ms");
        let node = NodeConditions::new(of_node(9), random.clone());
        let start = Instant::now();
        let draw = |kinds: &[ServiceKind]| -> Vec<Booking> {
            node.set(&random);
            kinds.iter().map(|kind| node.book(*kind, start)).collect()
        };
        let (read, write) = (ServiceKind::Read, ServiceKind::Write);
        let reads = draw(&[read, read, read]);
        assert_eq!(draw(&[read, read, read]), reads);
        assert_ne!(reads[0], reads[1]);
        // Kinds do not disturb one another.
        let mixed = draw(&[write, read, write, read]);
        assert_eq!((mixed[1], mixed[3]), (reads[0], reads[1]));
        assert_ne!(mixed[0], mixed[1]);
        let jitter = || {
            node.set(&random);
            [node.join(), node.join()].map(|mut share| share.latency.sample(&mut share.generator))
        };
        let first = jitter();
        assert_eq!(jitter(), first);
        assert_ne!(first[0], first[1]);
        // Another node draws others, and so does a cluster with another seed.
        assert_ne!(NodeConditions::new(of_node(10), random.clone()).book(read, start), reads[0]);
        assert_ne!(NodeConditions::new(Seed { cluster: 1, node: 9 }, random).book(read, start), reads[0]);
    }

    proptest! {
        /// The bookings are those of a simulation that keeps a list of who waits.
        #[test]
        fn bookings_are_first_come_first_served(
            gaps in prop::collection::vec(0..8_u32, 1..60), limit in 1..5_usize, seed in 0..1000_u64,
        ) {
            let wanted = Conditions::new()
                .service_time(ServiceKind::Read, ServiceTime::exponential(5 * MS))
                .in_service(limit)
                .seed(seed);
            let node = NodeConditions::new(of_node(1), wanted);
            let start = Instant::now();
            let mut arrival = start;
            let bookings: Vec<_> = gaps.iter().map(|gap| {
                arrival += *gap * MS;
                (arrival, node.book(ServiceKind::Read, arrival))
            }).collect();
            for (at, (arrival, Booking { begin, end })) in bookings.iter().enumerate() {
                prop_assert!(arrival <= begin && begin <= end);
                // Others that are in service when this one begins.
                let earlier = &bookings[..at];
                let in_service = earlier.iter().filter(|(_, b)| b.begin <= *begin && b.end > *begin).count();
                prop_assert!(in_service < limit);
                // Nobody who came later began earlier, and nobody waits while a place is free.
                prop_assert!(earlier.iter().all(|(_, b)| b.begin <= *begin));
                if begin > arrival {
                    prop_assert!(earlier.iter().any(|(_, b)| b.end == *begin));
                }
            }
        }
    }
}
