//! The lane's one timer.

use std::sync::Arc;
use std::time::Duration;

use super::{SharedLane, State};
use crate::clock;
use crate::lane::{LATE, Millis};

/// How often idle and blocked connections are looked for.
const TRIM_EVERY: Duration = Duration::from_secs(1);

/// Expires what is due, trims, and ends when there is nothing left to look after.
pub(super) async fn tick(lane: Arc<SharedLane>) {
    let mut trimmed = clock::now();
    loop {
        let now = clock::now();
        let millis = lane.millis(now);
        // What has become due meanwhile is another tick's: its answers may have come after those reads.
        let delay = read_first(&lane, millis).await;
        let wake = {
            let mut guard = lane.state.lock();
            let state = &mut *guard;
            state.latest = state.latest.max(millis);
            if state.closed || (state.connections.is_empty() && !state.lane.is_busy()) {
                state.ticker_wakes = None;
                return;
            }
            state.behind = delay >= LATE;
            if state.behind && state.lane.is_busy() {
                state.lane.came_late(millis, delay);
                lane.note_busy(Duration::from_millis(delay), now);
            }
            state.lane.renew_unsent(millis, delay);
            state.lane.expire(millis, &mut state.slots);
            if now.duration_since(trimmed) >= TRIM_EVERY {
                trimmed = now;
                state.lane.trim(millis);
                state.slots.trim();
            }
            let latest = millis.plus(TRIM_EVERY.as_millis() as u64);
            let wake = state.lane.next_deadline().map_or(latest, |d| d.min(latest)).max(millis.plus(1));
            state.ticker_wakes = Some(wake);
            lane.settle(guard);
            wake
        };
        let at = lane.epoch + Duration::from_millis(wake.0);
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            () = lane.ticker.notified() => {}
        }
    }
}

/// Where something is due, lets the tasks of the connections read first: what has been answered is delivered, however late the
/// runtime comes to it. Says by how many milliseconds the ticker is late, or else how long the runtime took to let it go on: one
/// that takes 100 ms for each turn may have come to it in time by chance.
async fn read_first(lane: &SharedLane, now: Millis) -> u64 {
    /// Tasks that have not run after so many turns of the runtime stand behind one that blocks its thread.
    const TURNS: usize = 16;
    /// Where the ticker is late itself they may be about to run, on a thread that waits for a processor: turns of this one
    /// say nothing about that. They have as long as the ticker is late, and no longer than this.
    const LONGEST: Duration = Duration::from_millis(100);
    let delay = {
        let mut state = lane.state.lock();
        let delay = state.ticker_wakes.filter(|due| due.0 > 0).map_or(0, |due| now.since(due));
        if state.lane.next_deadline().is_none_or(|due| now < due) {
            return delay;
        }
        let State { lane, connections, .. } = &mut *state;
        for driven in connections.iter_mut().filter(|driven| lane.entries_on(driven.id) > 0) {
            driven.read_now = true;
            if let Some(waker) = &driven.waker {
                waker.wake_by_ref();
            }
        }
        delay
    };
    let have_read = || !lane.state.lock().connections.iter().any(|driven| driven.read_now);
    let begun = clock::now();
    let mut turns = 0;
    while turns == 0 || (turns < TURNS && !have_read()) {
        tokio::task::yield_now().await;
        turns += 1;
    }
    let delay = delay.max(clock::now().saturating_duration_since(begun).as_millis() as u64 / turns as u64);
    if have_read() {
        return delay;
    }
    if delay >= LATE {
        let patience = clock::now() + Duration::from_millis(delay).min(LONGEST);
        while clock::now() < patience && !have_read() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    delay
}
