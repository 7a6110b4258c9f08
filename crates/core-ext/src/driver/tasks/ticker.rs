//! The lane's one timer.

use std::sync::Arc;
use std::time::Duration;

use super::SharedLane;
use crate::clock;

/// How often idle and blocked connections are looked for.
const TRIM_EVERY: Duration = Duration::from_secs(1);

/// Expires what is due, trims, and ends when there is nothing left to look after.
pub(super) async fn tick(lane: Arc<SharedLane>) {
    let mut trimmed = clock::now();
    loop {
        let now = clock::now();
        let millis = lane.millis(now);
        let wake = {
            let mut guard = lane.state.lock();
            let state = &mut *guard;
            state.latest = state.latest.max(millis);
            if state.closed || (state.connections.is_empty() && !state.lane.is_busy()) {
                state.ticker_wakes = None;
                return;
            }
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
