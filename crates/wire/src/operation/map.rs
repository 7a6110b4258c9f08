//! Operations of maps.
//!
//! `order` is the order of a map that an operation creates: 0 unordered, 1 by key, 3 by key and value, plus
//! [`PERSIST_INDEX`](crate::msgpack::order::PERSIST_INDEX). Write flags: 1 create-only, 2 update-only, 4 no-fail,
//! 8 partial. `what` is the return type: 0 none, 1 index, 2 reverse index, 3 rank, 4 reverse rank, 5 count, 6 keys,
//! 7 values, 8 keys and values, 13 exists, 16 unordered map, 17 ordered map; plus 0x10000 for all that is *not*
//! selected.

super::operations! {
    read CDT_READ, modify CDT_MODIFY;

    /// Sets the order of a map, and creates it if it is missing. For a nested map that is to be created, see
    /// [`context::nest`](super::context::nest).
    SET_TYPE = 64: plain modify set_type(order: int);
    /// Sets the value of a key; answers the new size. Without a value (`None`) that is nil, as one client writes it.
    PUT = 67: values modify put(key: value, value: value_opt, order: int, flags: int_opt);
    /// Sets each pair of a map; answers the new size.
    PUT_ITEMS = 68: values modify put_items(pairs: value, order: int, flags: int_opt);
    /// Adds to a number (`None`: 1); answers the sum.
    INCREMENT = 73: values modify increment(key: value, amount: value_opt, order: int_opt);
    /// Subtracts from a number (`None`: 1); answers the difference.
    DECREMENT = 74: values modify decrement(key: value, amount: value_opt, order: int_opt);
    /// Removes all pairs.
    CLEAR = 75: plain modify clear();
    /// Removes a key.
    REMOVE_BY_KEY = 76: values modify remove_by_key(what: int, key: value);
    /// Removes by index (by the order of keys).
    REMOVE_BY_INDEX = 77: plain modify remove_by_index(what: int, index: int);
    /// Removes by rank (by the order of values).
    REMOVE_BY_RANK = 79: plain modify remove_by_rank(what: int, rank: int);
    /// Removes all keys that are in a list.
    REMOVE_BY_KEY_LIST = 81: values modify remove_by_key_list(what: int, keys: value);
    /// Removes all pairs with an equal value.
    REMOVE_BY_VALUE = 82: values modify remove_by_value(what: int, value: value);
    /// Removes all pairs whose values are in a list.
    REMOVE_BY_VALUE_LIST = 83: values modify remove_by_value_list(what: int, values: value);
    /// Removes keys from `begin` (nil: from the smallest) to before `end`.
    REMOVE_BY_KEY_INTERVAL = 84: values modify remove_by_key_range(what: int, begin: value, end: value_opt);
    /// Removes a range of indexes; without a count all to the end.
    REMOVE_BY_INDEX_RANGE = 85: plain modify remove_by_index_range(what: int, index: int, count: int_opt);
    /// Removes values from `begin` (nil: from the smallest) to before `end`.
    REMOVE_BY_VALUE_INTERVAL = 86: values modify remove_by_value_range(what: int, begin: value, end: value_opt);
    /// Removes a range of ranks; without a count all to the end.
    REMOVE_BY_RANK_RANGE = 87: plain modify remove_by_rank_range(what: int, rank: int, count: int_opt);
    /// Removes a range of indexes that is relative to that of a key.
    REMOVE_BY_KEY_REL_INDEX_RANGE = 88: values modify remove_by_key_relative_index_range(
        what: int, key: value, index: int, count: int_opt,
    );
    /// Removes a range of ranks that is relative to that of a value.
    REMOVE_BY_VALUE_REL_RANK_RANGE = 89: values modify remove_by_value_relative_rank_range(
        what: int, value: value, rank: int, count: int_opt,
    );
    /// Answers the size.
    SIZE = 96: plain read size();
    /// Selects a key.
    GET_BY_KEY = 97: values read get_by_key(what: int, key: value);
    /// Selects by index (by the order of keys).
    GET_BY_INDEX = 98: plain read get_by_index(what: int, index: int);
    /// Selects by rank (by the order of values).
    GET_BY_RANK = 100: plain read get_by_rank(what: int, rank: int);
    /// Selects all pairs with an equal value.
    GET_BY_VALUE = 102: values read get_by_value(what: int, value: value);
    /// Selects keys from `begin` (nil: from the smallest) to before `end`.
    GET_BY_KEY_INTERVAL = 103: values read get_by_key_range(what: int, begin: value, end: value_opt);
    /// Selects by a range of indexes; without a count all to the end.
    GET_BY_INDEX_RANGE = 104: plain read get_by_index_range(what: int, index: int, count: int_opt);
    /// Selects values from `begin` (nil: from the smallest) to before `end`.
    GET_BY_VALUE_INTERVAL = 105: values read get_by_value_range(what: int, begin: value, end: value_opt);
    /// Selects by a range of ranks; without a count all to the end.
    GET_BY_RANK_RANGE = 106: plain read get_by_rank_range(what: int, rank: int, count: int_opt);
    /// Selects all keys that are in a list.
    GET_BY_KEY_LIST = 107: values read get_by_key_list(what: int, keys: value);
    /// Selects all pairs whose values are in a list.
    GET_BY_VALUE_LIST = 108: values read get_by_value_list(what: int, values: value);
    /// Selects a range of indexes that is relative to that of a key.
    GET_BY_KEY_REL_INDEX_RANGE = 109: values read get_by_key_relative_index_range(
        what: int, key: value, index: int, count: int_opt,
    );
    /// Selects a range of ranks that is relative to that of a value.
    GET_BY_VALUE_REL_RANK_RANGE = 110: values read get_by_value_relative_rank_range(
        what: int, value: value, rank: int, count: int_opt,
    );
}
