//! Numbers of the operations.

use crate::code;
use aerolane_wire::particle::particle_type;

/// The number of an operation. Below 64 it is one on lists, from there on one on maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

/// Whether `number` names this operation, a constant of [`list`] or [`map`].
const fn known(number: u64) -> bool {
    matches!(number, 0..=13 | 16..=27 | 32..=40 | 64..=67 | 68..=70 | 73..=79 | 81..=89 | 96..=100 | 102..=110)
}

impl Number {
    /// Whether it works on lists; else on maps.
    pub(super) const fn is_list(self) -> bool {
        self.0 < 64
    }

    /// Whether it is a known one that only reads.
    pub(super) const fn reads(self) -> bool {
        known(self.0) && matches!(self.0, 16..=27 | 96..=110)
    }

    /// Whether it is a known one that may change the value.
    pub(super) const fn modifies(self) -> bool {
        known(self.0) && !self.reads()
    }

    /// The particle type it works on.
    pub(super) const fn particle_type(self) -> u8 {
        if self.is_list() { particle_type::LIST } else { particle_type::MAP }
    }

    /// The error of an operation that cannot be carried out on any value of this type, or not in this kind of request.
    pub(super) const fn refusal(self, kind: u8) -> u8 {
        if self.particle_type() == kind { code::PARAMETER } else { code::BIN_TYPE }
    }
}

/// Operations on lists.
pub(super) mod list {
    pub(crate) const SET_TYPE: u64 = 0;
    pub(crate) const APPEND: u64 = 1;
    pub(crate) const APPEND_ITEMS: u64 = 2;
    pub(crate) const INSERT: u64 = 3;
    pub(crate) const INSERT_ITEMS: u64 = 4;
    pub(crate) const POP: u64 = 5;
    pub(crate) const POP_RANGE: u64 = 6;
    pub(crate) const REMOVE: u64 = 7;
    pub(crate) const REMOVE_RANGE: u64 = 8;
    pub(crate) const SET: u64 = 9;
    pub(crate) const TRIM: u64 = 10;
    pub(crate) const CLEAR: u64 = 11;
    pub(crate) const INCREMENT: u64 = 12;
    pub(crate) const SORT: u64 = 13;
    pub(crate) const SIZE: u64 = 16;
    pub(crate) const GET: u64 = 17;
    pub(crate) const GET_RANGE: u64 = 18;
    pub(crate) const GET_BY_INDEX: u64 = 19;
    pub(crate) const GET_BY_VALUE: u64 = 20;
    pub(crate) const GET_BY_RANK: u64 = 21;
    pub(crate) const GET_ALL_BY_VALUE: u64 = 22;
    pub(crate) const GET_BY_VALUE_LIST: u64 = 23;
    pub(crate) const GET_BY_INDEX_RANGE: u64 = 24;
    pub(crate) const GET_BY_VALUE_INTERVAL: u64 = 25;
    pub(crate) const GET_BY_RANK_RANGE: u64 = 26;
    pub(crate) const GET_BY_VALUE_REL_RANK_RANGE: u64 = 27;
    pub(crate) const REMOVE_BY_INDEX: u64 = 32;
    pub(crate) const REMOVE_BY_VALUE: u64 = 33;
    pub(crate) const REMOVE_BY_RANK: u64 = 34;
    pub(crate) const REMOVE_ALL_BY_VALUE: u64 = 35;
    pub(crate) const REMOVE_BY_VALUE_LIST: u64 = 36;
    pub(crate) const REMOVE_BY_INDEX_RANGE: u64 = 37;
    pub(crate) const REMOVE_BY_VALUE_INTERVAL: u64 = 38;
    pub(crate) const REMOVE_BY_RANK_RANGE: u64 = 39;
    pub(crate) const REMOVE_BY_VALUE_REL_RANK_RANGE: u64 = 40;
}

/// Operations on maps.
pub(super) mod map {
    pub(crate) const SET_TYPE: u64 = 64;
    pub(crate) const ADD: u64 = 65;
    pub(crate) const ADD_ITEMS: u64 = 66;
    pub(crate) const PUT: u64 = 67;
    pub(crate) const PUT_ITEMS: u64 = 68;
    pub(crate) const REPLACE: u64 = 69;
    pub(crate) const REPLACE_ITEMS: u64 = 70;
    pub(crate) const INCREMENT: u64 = 73;
    pub(crate) const DECREMENT: u64 = 74;
    pub(crate) const CLEAR: u64 = 75;
    pub(crate) const REMOVE_BY_KEY: u64 = 76;
    pub(crate) const REMOVE_BY_INDEX: u64 = 77;
    pub(crate) const REMOVE_BY_VALUE: u64 = 78;
    pub(crate) const REMOVE_BY_RANK: u64 = 79;
    pub(crate) const REMOVE_BY_KEY_LIST: u64 = 81;
    pub(crate) const REMOVE_ALL_BY_VALUE: u64 = 82;
    pub(crate) const REMOVE_BY_VALUE_LIST: u64 = 83;
    pub(crate) const REMOVE_BY_KEY_INTERVAL: u64 = 84;
    pub(crate) const REMOVE_BY_INDEX_RANGE: u64 = 85;
    pub(crate) const REMOVE_BY_VALUE_INTERVAL: u64 = 86;
    pub(crate) const REMOVE_BY_RANK_RANGE: u64 = 87;
    pub(crate) const REMOVE_BY_KEY_REL_INDEX_RANGE: u64 = 88;
    pub(crate) const REMOVE_BY_VALUE_REL_RANK_RANGE: u64 = 89;
    pub(crate) const SIZE: u64 = 96;
    pub(crate) const GET_BY_KEY: u64 = 97;
    pub(crate) const GET_BY_INDEX: u64 = 98;
    pub(crate) const GET_BY_VALUE: u64 = 99;
    pub(crate) const GET_BY_RANK: u64 = 100;
    pub(crate) const GET_ALL_BY_VALUE: u64 = 102;
    pub(crate) const GET_BY_KEY_INTERVAL: u64 = 103;
    pub(crate) const GET_BY_INDEX_RANGE: u64 = 104;
    pub(crate) const GET_BY_VALUE_INTERVAL: u64 = 105;
    pub(crate) const GET_BY_RANK_RANGE: u64 = 106;
    pub(crate) const GET_BY_KEY_LIST: u64 = 107;
    pub(crate) const GET_BY_VALUE_LIST: u64 = 108;
    pub(crate) const GET_BY_KEY_REL_INDEX_RANGE: u64 = 109;
    pub(crate) const GET_BY_VALUE_REL_RANK_RANGE: u64 = 110;
}
