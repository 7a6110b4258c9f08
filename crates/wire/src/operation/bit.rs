//! Operations on the bits of blobs.
//!
//! Offsets and sizes count bits, from the highest bit of the first byte on, or bytes where the name says so; negative
//! offsets count from the end. Write flags: 1 create-only, 2 update-only, 4 no-fail, 8 partial. `value` is written as
//! a blob.

super::operations! {
    read BITS_READ, modify BITS_MODIFY;

    /// Makes the blob `byte_size` bytes long. Resize flags: 1 from the front, 2 grow only, 4 shrink only.
    RESIZE = 0: plain modify resize(byte_size: int, flags: int, resize_flags: int_opt);
    /// Inserts bytes.
    INSERT = 1: values modify insert(byte_offset: int, value: value, flags: int);
    /// Removes bytes.
    REMOVE = 2: plain modify remove(byte_offset: int, byte_size: int, flags: int);
    /// Sets bits.
    SET = 3: values modify set(offset: int, size: int, value: value, flags: int);
    /// Bitwise or.
    OR = 4: values modify or(offset: int, size: int, value: value, flags: int);
    /// Bitwise exclusive or.
    XOR = 5: values modify xor(offset: int, size: int, value: value, flags: int);
    /// Bitwise and.
    AND = 6: values modify and(offset: int, size: int, value: value, flags: int);
    /// Inverts bits.
    NOT = 7: plain modify not(offset: int, size: int, flags: int);
    /// Shifts to the left.
    LSHIFT = 8: plain modify lshift(offset: int, size: int, shift: int, flags: int);
    /// Shifts to the right.
    RSHIFT = 9: plain modify rshift(offset: int, size: int, shift: int, flags: int);
    /// Adds to an integer of up to 64 bits. Overflow: 0 fails, 2 saturates, 4 wraps; plus 1 for a signed integer.
    ADD = 10: plain modify add(offset: int, size: int, amount: int, flags: int, overflow: int);
    /// Subtracts from an integer of up to 64 bits; overflow as in [`add`].
    SUBTRACT = 11: plain modify subtract(offset: int, size: int, amount: int, flags: int, overflow: int);
    /// Sets an integer of up to 64 bits.
    SET_INT = 12: plain modify set_int(offset: int, size: int, value: int, flags: int);
    /// Answers bits as a blob.
    GET = 50: plain read get(offset: int, size: int);
    /// Answers how many bits are set.
    COUNT = 51: plain read count(offset: int, size: int);
    /// Answers the offset of the first bit that has this value, or -1.
    LSCAN = 52: plain read lscan(offset: int, size: int, value: bool);
    /// Answers the offset of the last bit that has this value, or -1.
    RSCAN = 53: plain read rscan(offset: int, size: int, value: bool);
    /// Answers an integer of up to 64 bits. `signed`: `Some(1)` for a signed one.
    GET_INT = 54: plain read get_int(offset: int, size: int, signed: int_opt);
    /// Answers bytes as base64 text (server 8.2 and later). Flags: 1 counts the size from the end.
    B64_ENCODE = 55: plain read b64_encode(byte_offset: int_opt, byte_size: int_opt, flags: int_opt);
}
