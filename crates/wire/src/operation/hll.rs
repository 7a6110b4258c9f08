//! Operations of HLLs.
//!
//! Bit counts of -1 stand for "as it is" or "none". Write flags: 1 create-only, 2 update-only, 4 no-fail,
//! 8 allow-fold. Lists are written by the caller: of values in [`add`], of HLLs elsewhere.

super::operations! {
    read HLL_READ, modify HLL_MODIFY;

    /// Creates or resets.
    INIT = 0: plain modify init(index_bits: int, min_hash_bits: int, flags: int);
    /// Adds values, and creates if missing; answers how many changed it.
    ADD = 1: values modify add(values: value, index_bits: int, min_hash_bits: int, flags: int);
    /// Sets the union with others.
    SET_UNION = 2: values modify set_union(hlls: value, flags: int);
    /// Brings the cached count up to date, and answers it.
    REFRESH_COUNT = 3: plain modify refresh_count();
    /// Folds to fewer index bits.
    FOLD = 4: plain modify fold(index_bits: int);
    /// Answers the estimated count.
    GET_COUNT = 50: plain read get_count();
    /// Answers the union with others.
    GET_UNION = 51: values read get_union(hlls: value);
    /// Answers the estimated count of the union with others.
    GET_UNION_COUNT = 52: values read get_union_count(hlls: value);
    /// Answers the estimated count of the intersection with others.
    GET_INTERSECT_COUNT = 53: values read get_intersect_count(hlls: value);
    /// Answers the estimated similarity with others, from 0 to 1.
    GET_SIMILARITY = 54: values read get_similarity(hlls: value);
    /// Answers the bit counts.
    DESCRIBE = 55: plain read describe();
}
