//! The records of a query, for any number of threads and tasks.

use std::task::{Poll, Waker};

use aerolane::Error;
use aerolane::raw::{Cursor, RawRecords};
use aerolane::sync::Mutex;
use aerolane_wire::digest::Digest;
use aerolane_wire::message::{MESSAGE_HEADER_SIZE, MessageReader, field};
use tokio::sync::Notify;

use crate::key::Key;
use crate::record::Body;

/// A query under way. Its lock is never held while Python code can run.
pub(crate) struct Stream {
    namespace: String,
    set: String,
    /// What comes are results of a function.
    results: bool,
    state: Mutex<State>,
    /// Held by the one who waits for frames; the others wait in line.
    turn: tokio::sync::Mutex<()>,
    /// Something else than a frame has come: what waits has to look again.
    changed: Notify,
}

struct State {
    records: RawRecords,
    /// What was given back, with the number of the take.
    returned: Vec<(u64, Taken)>,
    takes: u64,
    closed: bool,
}

/// What a stream has just now.
#[allow(clippy::large_enum_variant)] // Most are records: a box for each would cost more than it saves.
pub(crate) enum Taken<R = Raw> {
    Record(R),
    /// Nothing yet: [wait](Stream::ready).
    Nothing,
    /// No more.
    End,
    /// The query has failed. Said once; then it is at its end.
    Failed(Error),
}

/// A record, without Python.
pub(crate) struct Raw {
    /// `None`: a result of a function.
    pub(crate) key: Option<Key>,
    pub(crate) body: Body,
}

impl Stream {
    /// `results`: what comes are results of a function.
    pub(crate) fn new(records: RawRecords, (namespace, set): (String, String), results: bool) -> Self {
        let state = State { records, returned: Vec::new(), takes: 0, closed: false };
        let (turn, changed) = (tokio::sync::Mutex::default(), Notify::new());
        Self { namespace, set, results, state: Mutex::new(state), turn, changed }
    }

    /// The next record, if it is there, and the number of this take. The cursor moves on with it.
    pub(crate) fn take(&self) -> (u64, Taken) {
        let mut state = self.state.lock();
        if let Some((number, taken)) = state.returned.pop() {
            if number == state.takes && matches!(taken, Taken::Record(_)) {
                state.records.swap_last();
            }
            return (number, taken);
        }
        let taken = self.next(&mut state, &mut |message| self.raw(message));
        (state.takes, taken)
    }

    /// Gives the next record to `look`, as a message, if it is there. The cursor moves on with it. For those who have no
    /// use for its key, and copy for themselves.
    pub(crate) fn pass<R>(&self, mut look: impl FnMut(&[u8]) -> Result<R, Error>) -> Taken<R> {
        let mut state = self.state.lock();
        if self.results || !state.returned.is_empty() {
            drop(state);
            return match self.take().1 {
                Taken::Record(raw) => look(&raw.body).map_or_else(Taken::Failed, Taken::Record),
                Taken::Nothing => Taken::Nothing,
                Taken::End => Taken::End,
                Taken::Failed(error) => Taken::Failed(error),
            };
        }
        self.next(&mut state, &mut look)
    }

    fn next<R>(&self, state: &mut State, look: &mut impl FnMut(&[u8]) -> Result<R, Error>) -> Taken<R> {
        loop {
            if state.closed {
                return Taken::End;
            }
            match state.records.next(&mut *look) {
                Some(Ok(Ok(record))) => {
                    state.takes += 1;
                    return Taken::Record(record);
                }
                Some(Ok(Err(error)) | Err(error)) => return Taken::Failed(error),
                None => {}
            }
            if !state.records.is_active() {
                // Not to be asked of the turn: at the end it goes from one who waits to the next, and each comes here.
                return Taken::End;
            }
            // Whoever waits has registered its waker, which must stay.
            let Ok(_turn) = self.turn.try_lock() else { return Taken::Nothing };
            match state.records.poll_more(&mut std::task::Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(true)) => {}
                Poll::Ready(Ok(false)) => return Taken::End,
                Poll::Ready(Err(error)) => return Taken::Failed(error),
                Poll::Pending => return Taken::Nothing,
            }
        }
    }

    /// What was taken has come to nobody: the next one who takes has it.
    pub(crate) fn give_back(&self, number: u64, taken: Taken) {
        let mut state = self.state.lock();
        if number == state.takes && matches!(taken, Taken::Record(_)) {
            state.records.swap_last();
        }
        state.returned.push((number, taken));
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until [`take`](Self::take) may have something to say.
    pub(crate) async fn ready(&self) {
        let mut changed = std::pin::pin!(self.changed.notified());
        // Before looking: what changes from now on wakes.
        changed.as_mut().enable();
        let frames = async {
            let _turn = self.turn.lock().await;
            std::future::poll_fn(|cx| {
                let mut state = self.state.lock();
                if state.closed || !state.returned.is_empty() {
                    return Poll::Ready(());
                }
                state.records.poll_more(cx).map(|more| {
                    if let Err(error) = more {
                        let number = state.takes + 1; // Of no take.
                        state.returned.push((number, Taken::Failed(error)));
                    }
                })
            })
            .await;
        };
        tokio::select! {
            () = changed => {}
            () = frames => {}
        }
    }

    /// How far it has been read.
    pub(crate) fn cursor(&self) -> Cursor {
        self.state.lock().records.cursor().clone()
    }

    /// Whether more records may arrive.
    pub(crate) fn is_active(&self) -> bool {
        let state = self.state.lock();
        !state.closed && (!state.returned.is_empty() || state.records.is_active())
    }

    /// Ends the query; what was not taken is dropped.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.records.close();
        let returned = std::mem::take(&mut state.returned);
        drop(state);
        drop(returned);
        self.changed.notify_waiters();
    }

    pub(crate) fn name(&self) -> (&str, &str) {
        (&self.namespace, &self.set)
    }

    fn raw(&self, message: &[u8]) -> Result<Raw, Error> {
        let malformed = |e| Error::bad_response(format!("a record of a query is malformed: {e}"));
        let mut reader = MessageReader::new(message).map_err(malformed)?;
        let (mut digest, mut set, mut user_key) = (None::<&Digest>, self.set.as_bytes(), None);
        let mut head = MESSAGE_HEADER_SIZE;
        while let Some(found) = reader.next_field().map_err(malformed)? {
            match found.kind {
                field::DIGEST => digest = found.value.try_into().ok(),
                field::SET => set = found.value,
                field::KEY => user_key = Some(found.value),
                _ => {}
            }
            head += 5 + found.value.len();
        }
        // A message without its fields: its header announces none.
        let mut header = [0; MESSAGE_HEADER_SIZE];
        header.copy_from_slice(&message[..MESSAGE_HEADER_SIZE]);
        header[18..20].fill(0);
        let body = Body::concat([&header, &message[head..]]);
        let Some(digest) = digest else {
            return match reader.next_op().map_err(malformed)? {
                Some(op) if op.name == b"FAILURE" => {
                    Err(Error::udf_bad_response(String::from_utf8_lossy(op.value).into_owned()))
                }
                _ => Ok(Raw { key: None, body }),
            };
        };
        let key = Key::received(&self.namespace, set, digest, user_key);
        let key = key.ok_or_else(|| Error::bad_response("the key of a record has text that is not UTF-8"))?;
        Ok(Raw { key: Some(key), body })
    }
}
