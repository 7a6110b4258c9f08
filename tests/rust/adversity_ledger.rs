//! What may be read from a record, given all writes to it and what their callers were told.
//!
//! One task writes a record at a time, numbering its writes; any task may read it. A write ends as *acknowledged*, as
//! *failed* (reported as not applied) or as *doubtful* (in doubt, or its caller gave up): a doubtful one may be applied at
//! any time later, once, or never.

use std::collections::HashSet;

/// The writes to one record.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    issued: u64,
    acknowledged: u64,
    pending: Option<u64>,
    failed: HashSet<u64>,
    /// Those that may be applied, or applied again, at any time.
    loose: HashSet<u64>,
    deletes: HashSet<u64>,
}

/// How a write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Acknowledged. `repeated`: it may have been sent more than once, and a copy may still be under way.
    Acknowledged {
        repeated: bool,
    },
    Failed,
    Doubtful,
}

impl Ledger {
    /// Begins a write; gives its number.
    pub(crate) fn begin(&mut self, deletes: bool) -> u64 {
        assert_eq!(self.pending, None, "one write at a time");
        self.issued += 1;
        if deletes {
            self.deletes.insert(self.issued);
        }
        self.pending = Some(self.issued);
        self.issued
    }

    /// The write under way has ended.
    pub(crate) fn end(&mut self, end: End) {
        let number = self.pending.take().expect("a write is under way");
        match end {
            End::Acknowledged { repeated } => {
                self.acknowledged = number;
                if repeated {
                    self.loose.insert(number);
                }
            }
            End::Failed => {
                self.failed.insert(number);
            }
            End::Doubtful => {
                self.loose.insert(number);
            }
        }
    }

    /// The last acknowledged write: a read that begins now must not show an older one.
    pub(crate) fn floor(&self) -> u64 {
        self.acknowledged
    }

    /// Judges what a read has shown (`None`: no record) that began when `floor` was the last acknowledged write.
    pub(crate) fn judge(&self, floor: u64, seen: Option<u64>) -> Result<(), String> {
        let Some(number) = seen else {
            let may_be_gone = floor == 0
                || self.deletes.iter().any(|d| !self.failed.contains(d) && (*d >= floor || self.loose.contains(d)));
            return if may_be_gone { Ok(()) } else { Err(format!("no record, but write {floor} was acknowledged")) };
        };
        if number == 0 || number > self.issued {
            return Err(format!("write {number} was never made, only 1 to {}", self.issued));
        }
        if self.deletes.contains(&number) {
            return Err(format!("write {number} was a delete"));
        }
        if self.failed.contains(&number) {
            return Err(format!("write {number} was reported as not applied"));
        }
        if number < floor && !self.loose.contains(&number) && self.pending != Some(number) {
            return Err(format!("write {number} is older than the acknowledged {floor}"));
        }
        Ok(())
    }
}

/// The additions of 1 to one counter.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    acknowledged: u64,
    doubtful: u64,
    pending: u64,
    /// The largest value that was ever seen: it never shrinks.
    seen: u64,
}

impl Counter {
    pub(crate) fn begin(&mut self) {
        self.pending += 1;
    }

    pub(crate) fn end(&mut self, end: End) {
        self.pending -= 1;
        match end {
            End::Acknowledged { .. } => self.acknowledged += 1,
            End::Failed => {}
            End::Doubtful => self.doubtful += 1,
        }
    }

    /// The least that a read beginning now may show.
    pub(crate) fn floor(&self) -> u64 {
        self.acknowledged.max(self.seen)
    }

    /// Judges a value shown by a read that began at this floor.
    pub(crate) fn judge(&mut self, floor: u64, value: u64) -> Result<(), String> {
        let most = self.acknowledged + self.doubtful + self.pending;
        if value < floor || value > most {
            return Err(format!("the counter is {value}, it must be {floor} to {most}: {self:?}"));
        }
        self.seen = self.seen.max(value);
        Ok(())
    }
}

#[test]
fn the_ledger_finds_what_it_is_for() {
    let mut ledger = Ledger::default();
    assert!(ledger.judge(0, None).is_ok());
    assert!(ledger.judge(0, Some(1)).is_err(), "never made");
    let end = |ledger: &mut Ledger, deletes, end| {
        let number = ledger.begin(deletes);
        ledger.end(end);
        number
    };
    let acknowledged = End::Acknowledged { repeated: false };
    assert_eq!(end(&mut ledger, false, acknowledged), 1);
    assert!(ledger.judge(1, None).is_err(), "lost");
    assert!(ledger.judge(0, None).is_ok(), "it was read before");
    end(&mut ledger, false, End::Failed); // 2
    assert!(ledger.judge(1, Some(2)).is_err(), "was not applied");
    end(&mut ledger, false, End::Doubtful); // 3
    end(&mut ledger, false, acknowledged); // 4
    for (seen, fine) in [(1, false), (2, false), (3, true), (4, true), (5, false)] {
        assert_eq!(ledger.judge(ledger.floor(), Some(seen)).is_ok(), fine, "{seen}");
    }
    assert!(ledger.judge(1, Some(1)).is_ok(), "it was read before");
    assert_eq!(ledger.begin(false), 5);
    assert!(ledger.judge(4, Some(5)).is_ok(), "under way");
    ledger.end(acknowledged);
    assert!(ledger.judge(5, Some(4)).is_err(), "stale");
    end(&mut ledger, true, End::Failed); // 6
    assert!(ledger.judge(5, None).is_err(), "the delete was not applied");
    end(&mut ledger, true, acknowledged); // 7
    assert!(ledger.judge(7, None).is_ok());
    assert!(ledger.judge(7, Some(7)).is_err(), "a delete has no value");
    end(&mut ledger, false, End::Acknowledged { repeated: true }); // 8
    end(&mut ledger, false, acknowledged); // 9
    assert!(ledger.judge(9, Some(8)).is_ok(), "a copy of it may come late");
    assert!(ledger.judge(9, None).is_err(), "the delete was before");
}

#[test]
fn the_counter_finds_what_it_is_for() {
    let mut counter = Counter::default();
    for end in [End::Acknowledged { repeated: false }, End::Failed, End::Doubtful] {
        counter.begin();
        counter.end(end);
    }
    assert!(counter.judge(counter.floor(), 0).is_err(), "lost");
    assert!(counter.judge(counter.floor(), 1).is_ok());
    assert!(counter.judge(counter.floor(), 3).is_err(), "the failed one was applied");
    assert!(counter.judge(counter.floor(), 2).is_ok());
    assert!(counter.judge(counter.floor(), 1).is_err(), "it has been 2 already");
}
