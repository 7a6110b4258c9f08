//! Operations on string bins (server 8.2 and later).
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::string`], whose policy and flag types are
//! re-exported here.

use super::{Operation, forward};
pub use aerospike_core::operations::string::*;

forward! {
    string;
    fn strlen(bin: impl Into<String>);
    fn substr_from(bin: impl Into<String>, start: i64);
    fn substr(bin: impl Into<String>, start: i64, end: i64);
    fn char_at(bin: impl Into<String>, index: i64);
    fn find(bin: impl Into<String>, needle: impl Into<String>);
    fn find_nth(bin: impl Into<String>, needle: impl Into<String>, occurrence: i64);
    fn contains(bin: impl Into<String>, needle: impl Into<String>);
    fn starts_with(bin: impl Into<String>, prefix: impl Into<String>);
    fn ends_with(bin: impl Into<String>, suffix: impl Into<String>);
    fn to_integer(bin: impl Into<String>);
    fn to_double(bin: impl Into<String>);
    fn byte_length(bin: impl Into<String>);
    fn is_numeric(bin: impl Into<String>);
    fn is_numeric_typed(bin: impl Into<String>, numeric_type: StringNumericType);
    fn is_upper(bin: impl Into<String>);
    fn is_lower(bin: impl Into<String>);
    fn to_blob(bin: impl Into<String>);
    fn split(bin: impl Into<String>);
    fn split_by_separator(bin: impl Into<String>, separator: impl Into<String>);
    fn b64_decode(bin: impl Into<String>);
    fn regex_compare(bin: impl Into<String>, pattern: impl Into<String>);
    fn regex_compare_with_flags(bin: impl Into<String>, pattern: impl Into<String>, regex_flags: StringRegexFlags);
    fn insert(policy: &StringPolicy, bin: impl Into<String>, index: i64, value: impl Into<String>);
    fn overwrite(policy: &StringPolicy, bin: impl Into<String>, index: i64, value: impl Into<String>);
    fn concat(policy: &StringPolicy, bin: impl Into<String>, value: impl Into<String>);
    fn concat_list(policy: &StringPolicy, bin: impl Into<String>, values: &[&str]);
    fn append(policy: &StringPolicy, bin: impl Into<String>, value: impl Into<String>);
    fn prepend(policy: &StringPolicy, bin: impl Into<String>, value: impl Into<String>);
    fn snip_from(policy: &StringPolicy, bin: impl Into<String>, start: i64);
    fn snip(policy: &StringPolicy, bin: impl Into<String>, start: i64, end: i64);
    fn replace(
        policy: &StringPolicy,
        bin: impl Into<String>,
        needle: impl Into<String>,
        replacement: impl Into<String>,
    );
    fn replace_all(
        policy: &StringPolicy,
        bin: impl Into<String>,
        needle: impl Into<String>,
        replacement: impl Into<String>,
    );
    fn upper(policy: &StringPolicy, bin: impl Into<String>);
    fn lower(policy: &StringPolicy, bin: impl Into<String>);
    fn case_fold(policy: &StringPolicy, bin: impl Into<String>);
    fn normalize_nfc(policy: &StringPolicy, bin: impl Into<String>);
    fn trim_start(policy: &StringPolicy, bin: impl Into<String>);
    fn trim_end(policy: &StringPolicy, bin: impl Into<String>);
    fn trim(policy: &StringPolicy, bin: impl Into<String>);
    fn pad_start(policy: &StringPolicy, bin: impl Into<String>, target_length: i64, pad_string: impl Into<String>);
    fn pad_end(policy: &StringPolicy, bin: impl Into<String>, target_length: i64, pad_string: impl Into<String>);
    fn repeat(policy: &StringPolicy, bin: impl Into<String>, count: i64);
    fn regex_replace(
        policy: &StringPolicy,
        bin: impl Into<String>,
        pattern: impl Into<String>,
        replacement: impl Into<String>,
        regex_flags: StringRegexFlags,
    );
    fn to_string(bin: impl Into<String>);
}
