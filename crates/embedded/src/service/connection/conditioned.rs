//! A connection under conditions: what is received arrives later, and so does what is sent.
//!
//! Unlike without conditions, it receives also while a request is in service, as only so the time is known from when on the
//! next one was on its way.

use super::{Connection, OUT_BOUND, READS_PER_TURN, State, Turn};
use crate::clock::Now;
use crate::service::link::Link;
use std::io::{self, ErrorKind};
use std::time::Instant;

impl Connection {
    /// The conditions have changed. `opened`: the connection is new.
    #[cold]
    pub(super) fn follow_conditions(&mut self, opened: bool) {
        let share = self.node.conditions.join();
        self.conditions = share.version;
        if let Some(link) = &mut self.link {
            link.renew(share);
        } else if !share.is_ideal() {
            let now = Instant::now();
            let mut link = Link::new(share, std::mem::take(&mut self.input), self.output.len(), now);
            if opened {
                link.shake_hands(now);
            }
            self.link = Some(Box::new(link));
        }
    }

    /// [`Connection::advance`] under conditions.
    pub(super) fn advance_under_conditions(&mut self, time: Now, buffer: &mut [u8]) -> io::Result<Turn> {
        let (turn, looked) = self.advance_on_link(time, buffer)?;
        let Some(link) = &self.link else { return Ok(turn) };
        if link.is_over(looked) && matches!(self.state, State::Open) && self.output.is_empty() {
            self.input = self.link.take().map(|link| link.into_held()).unwrap_or_default();
            // Without a link only what is received now sets off a look at what is kept.
            return Ok(Turn::Again);
        }
        // What has become due since then was perhaps not seen: it gets a timer, which goes off at once.
        Ok(match (turn, link.next(looked)) {
            (Turn::Wait, Some(next)) => Turn::At(next),
            (Turn::At(when), Some(next)) => Turn::At(when.min(next)),
            (turn, _) => turn,
        })
    }

    /// Also gives the time up to which everything was looked at.
    fn advance_on_link(&mut self, time: Now, buffer: &mut [u8]) -> io::Result<(Turn, Instant)> {
        let mut reads = 0;
        loop {
            self.receive(buffer, &mut reads)?;
            let now = Instant::now();
            self.flush_visible(now)?;
            if let Some(turn) = self.resume(time) {
                return Ok((turn, now));
            }
            if self.output.len() > OUT_BOUND || self.black_hole.requests {
                return Ok((Turn::Wait, now));
            }
            if self.serve_arrived(time, now) {
                continue;
            }
            let Some(link) = &self.link else { return Ok((Turn::Again, now)) };
            if link.ended && link.next_arrival(now).is_none() {
                self.state = State::Closing { reset: false };
                continue;
            }
            return Ok((if self.readable && link.wants_more() { Turn::Again } else { Turn::Wait }, now));
        }
    }

    /// Takes in what the socket has.
    fn receive(&mut self, buffer: &mut [u8], reads: &mut usize) -> io::Result<()> {
        let deaf = self.black_hole.requests || matches!(self.state, State::Closing { .. } | State::Stalled(_));
        while !deaf
            && self.readable
            && *reads < READS_PER_TURN
            && self.link.as_ref().is_some_and(|link| link.wants_more())
        {
            *reads += 1;
            let received = self.read(buffer);
            let Some(link) = &mut self.link else { return Ok(()) };
            match received {
                Ok(0) => link.ended = true,
                // The clock is read afterwards: what has arrived was sent before.
                Ok(n) => link.receive(&buffer[..n], Instant::now()),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.readable = false,
                    ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Sends what the client may see.
    fn flush_visible(&mut self, now: Instant) -> io::Result<()> {
        self.count_records();
        let Some(link) = &mut self.link else { return Ok(()) };
        link.send_off(self.output.len(), now);
        if !self.writable || self.black_hole.answers {
            return Ok(());
        }
        let (unsent, visible) = (self.output.len(), link.visible(now));
        self.writable = match &mut self.transport {
            None => self.output.send_first(visible, |bytes| io::Write::write(&mut self.stream, bytes))?,
            Some(transport) => {
                let all = self.output.send_first(visible, |bytes| transport.write(&mut self.stream, bytes))?;
                transport.flush(&mut self.stream)? && all
            }
        };
        link.sent(unsent - self.output.len());
        Ok(())
    }

    /// Answers the frame at the head if it has arrived; `true` if anything happened.
    fn serve_arrived(&mut self, time: Now, now: Instant) -> bool {
        let taken = self.link.as_mut().and_then(|link| link.take(now));
        let Some((held, frame)) = taken else { return false };
        let served = self.serve(&held[frame], time);
        if let Some(link) = &mut self.link {
            link.put_back(held, served);
        }
        served > 0 || !matches!(self.state, State::Open)
    }
}
