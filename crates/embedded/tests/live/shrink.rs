//! The fewest requests after which two clusters still answer differently.

/// Leaves steps out as long as `differs` says of those that are left that the answers to the last one differ. That one
/// always stays. `None` if it does not differ a second time.
pub(crate) fn shrink<T: Clone>(steps: &[T], mut differs: impl FnMut(&[T]) -> bool) -> Option<Vec<T>> {
    let mut kept = steps.to_vec();
    if !differs(&kept) {
        return None;
    }
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..at + size);
            if differs(&fewer) {
                kept = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    Some(kept)
}

#[test]
fn shrinks_to_what_matters() {
    let steps: Vec<u32> = (0..100).collect();
    let differs = |steps: &[u32]| steps.contains(&17) && steps.contains(&62) && steps.last() == Some(&99);
    assert_eq!(shrink(&steps, differs).unwrap(), [17, 62, 99]);
    assert_eq!(shrink(&steps, |steps| steps.len() < 100), None);
}
