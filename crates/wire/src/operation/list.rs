//! Operations of lists.
//!
//! `order` is the order of a list that an operation creates: 0 unordered, 1 ordered, plus
//! [`PERSIST_INDEX`](crate::msgpack::order::PERSIST_INDEX). Write flags: 1 add-unique, 2 insert-bounded, 4 no-fail,
//! 8 partial. `what` is the return type: 0 none, 1 index, 2 reverse index, 3 rank, 4 reverse rank, 5 count, 7 values,
//! 13 exists; plus 0x10000 for all that is *not* selected.

super::operations! {
    read CDT_READ, modify CDT_MODIFY;

    /// Sets the order of a list, and creates it if it is missing. For a nested list that is to be created, see
    /// [`context::nest`](super::context::nest).
    SET_TYPE = 0: plain modify set_type(order: int);
    /// Appends a value; answers the new size.
    APPEND = 1: values modify append(value: value, order: int_opt, flags: int_opt);
    /// Appends each element of a list; answers the new size.
    APPEND_ITEMS = 2: values modify append_items(values: value, order: int_opt, flags: int_opt);
    /// Inserts a value; answers the new size.
    INSERT = 3: values modify insert(index: int, value: value, flags: int_opt);
    /// Inserts each element of a list; answers the new size.
    INSERT_ITEMS = 4: values modify insert_items(index: int, values: value, flags: int_opt);
    /// Removes a value and answers it.
    POP = 5: plain modify pop(index: int);
    /// Removes values and answers them; without a count all to the end.
    POP_RANGE = 6: plain modify pop_range(index: int, count: int_opt);
    /// Removes a value; answers how many were removed.
    REMOVE = 7: plain modify remove(index: int);
    /// Removes values; answers how many; without a count all to the end.
    REMOVE_RANGE = 8: plain modify remove_range(index: int, count: int_opt);
    /// Sets a value.
    SET = 9: values modify set(index: int, value: value, flags: int_opt);
    /// Removes what is outside a range; answers how many were removed.
    TRIM = 10: plain modify trim(index: int, count: int);
    /// Removes all values.
    CLEAR = 11: plain modify clear();
    /// Adds to a number, 1 unless said otherwise; answers the sum.
    INCREMENT = 12: values modify increment(index: int, amount: value_opt, order: int_opt, flags: int_opt);
    /// Sorts. Flags: 1 descending, 2 drop duplicates.
    SORT = 13: plain modify sort(flags: int);
    /// Answers the size.
    SIZE = 16: plain read size();
    /// Answers a value.
    GET = 17: plain read get(index: int);
    /// Answers values; without a count all to the end.
    GET_RANGE = 18: plain read get_range(index: int, count: int_opt);
    /// Selects by index.
    GET_BY_INDEX = 19: plain read get_by_index(what: int, index: int);
    /// Selects by rank: 0 is the smallest value.
    GET_BY_RANK = 21: plain read get_by_rank(what: int, rank: int);
    /// Selects all equal values.
    GET_BY_VALUE = 22: values read get_by_value(what: int, value: value);
    /// Selects all values that are in a list.
    GET_BY_VALUE_LIST = 23: values read get_by_value_list(what: int, values: value);
    /// Selects by a range of indexes; without a count all to the end.
    GET_BY_INDEX_RANGE = 24: plain read get_by_index_range(what: int, index: int, count: int_opt);
    /// Selects values from `begin` (nil: from the smallest) to before `end`.
    GET_BY_VALUE_INTERVAL = 25: values read get_by_value_range(what: int, begin: value, end: value_opt);
    /// Selects by a range of ranks; without a count all to the end.
    GET_BY_RANK_RANGE = 26: plain read get_by_rank_range(what: int, rank: int, count: int_opt);
    /// Selects by a range of ranks that is relative to that of a value.
    GET_BY_VALUE_REL_RANK_RANGE = 27: values read get_by_value_relative_rank_range(
        what: int, value: value, rank: int, count: int_opt,
    );
    /// Answers the strings of a list as one string (server 8.2 and later).
    JOIN = 28: plain read join(separator: text_opt);
    /// Removes by index.
    REMOVE_BY_INDEX = 32: plain modify remove_by_index(what: int, index: int);
    /// Removes by rank.
    REMOVE_BY_RANK = 34: plain modify remove_by_rank(what: int, rank: int);
    /// Removes all equal values.
    REMOVE_BY_VALUE = 35: values modify remove_by_value(what: int, value: value);
    /// Removes all values that are in a list.
    REMOVE_BY_VALUE_LIST = 36: values modify remove_by_value_list(what: int, values: value);
    /// Removes a range of indexes; without a count all to the end.
    REMOVE_BY_INDEX_RANGE = 37: plain modify remove_by_index_range(what: int, index: int, count: int_opt);
    /// Removes values from `begin` (nil: from the smallest) to before `end`.
    REMOVE_BY_VALUE_INTERVAL = 38: values modify remove_by_value_range(what: int, begin: value, end: value_opt);
    /// Removes a range of ranks; without a count all to the end.
    REMOVE_BY_RANK_RANGE = 39: plain modify remove_by_rank_range(what: int, rank: int, count: int_opt);
    /// Removes a range of ranks that is relative to that of a value.
    REMOVE_BY_VALUE_REL_RANK_RANGE = 40: values modify remove_by_value_relative_rank_range(
        what: int, value: value, rank: int, count: int_opt,
    );
}
