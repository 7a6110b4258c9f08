//! Parts of answers for people.

use aerolane_wire::message::MessageHeader;

/// A header of an answer for people.
pub(crate) fn shown_header(header: &MessageHeader) -> String {
    let MessageHeader { result_code, generation, record_ttl, info1, info2, info3, transaction_ttl, .. } = header;
    let MessageHeader { n_fields, n_ops, .. } = header;
    format!(
        "result {result_code} generation {generation} void time {record_ttl} infos {info1}/{info2}/{info3} \
         index {transaction_ttl} fields {n_fields} ops {n_ops}"
    )
}
