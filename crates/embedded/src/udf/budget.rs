//! Memory that scripts use outside of Lua, whose own limit does not see it: lists, maps, byte arrays, and the texts in
//! them.

use mlua::{Lua, WeakLua};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;

/// Bytes that the scripts of a thread may use at a time.
const LIMIT: usize = 64 * 1024 * 1024;
/// Bytes that an element of a list, or a key or value of a map, counts for.
pub(super) const ELEMENT: usize = 40;

thread_local! {
    static USED: Cell<usize> = const { Cell::new(0) };
    /// The state that runs, and may have garbage.
    static RUNNING: RefCell<Option<WeakLua>> = const { RefCell::new(None) };
}

/// Takes note of the state that runs, or that none does.
pub(super) fn set_running(lua: Option<&Lua>) {
    RUNNING.set(lua.map(Lua::weak));
}

/// Bytes in use by this thread's scripts.
pub(super) fn used() -> usize {
    USED.get()
}

/// A share of the memory, given back when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Charge(usize);

impl Charge {
    /// A share of so many bytes.
    pub(super) fn of(bytes: usize) -> mlua::Result<Self> {
        let mut charge = Self::default();
        charge.grow(bytes)?;
        Ok(charge)
    }

    /// Takes more; an error if there is no more.
    pub(super) fn grow(&mut self, bytes: usize) -> mlua::Result<()> {
        let fits = || USED.get().saturating_add(bytes) <= LIMIT;
        if !fits() {
            // What nobody refers to any more counts until it is collected.
            let running = RUNNING.with_borrow(|running| running.as_ref().and_then(WeakLua::try_upgrade));
            if let Some(lua) = running {
                lua.gc_collect()?;
            }
            if !fits() {
                return Err(mlua::Error::RuntimeError("not enough memory".to_owned()));
            }
        }
        USED.set(USED.get() + bytes);
        self.0 += bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        // At the end of a thread the count may be gone before the states.
        let _ = USED.try_with(|used| used.set(used.get().saturating_sub(self.0)));
    }
}

/// A text, or the text of a `GeoJSON` value. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Text(Rc<(Box<[u8]>, Charge)>);

impl Text {
    /// A copy of a text that a script has made.
    pub(super) fn copy(bytes: &[u8]) -> mlua::Result<Self> {
        Ok(Self(Rc::new((bytes.into(), Charge::of(bytes.len())?))))
    }

    /// A text of a record or an argument: these are bounded already.
    pub(super) fn given(bytes: &[u8]) -> Self {
        Self(Rc::new((bytes.into(), Charge::default())))
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.0
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_given_back() {
        let before = used();
        let half = Charge::of(LIMIT / 2).unwrap();
        let text = Text::copy(&vec![b'x'; LIMIT / 4]).unwrap();
        let same = text.clone();
        assert!(Charge::of(LIMIT / 2).is_err());
        drop((half, text));
        let mut most = Charge::of(LIMIT / 2).unwrap();
        assert!(most.grow(LIMIT / 2).is_err());
        drop((same, most));
        assert_eq!(used(), before);
    }
}
