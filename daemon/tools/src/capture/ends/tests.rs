//! Scenes.

use proptest::prelude::*;

use super::*;

/// Checks that the kept text is the beginning and the end of the whole, and that everything is counted.
fn is_ends_of(ends: &HeadAndTail, whole: &str) -> Result<(), TestCaseError> {
    let TextPieces {
        head,
        missing,
        tail,
    } = ends.pieces();
    prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
    prop_assert_eq!(
        head.len() as u64 + missing + tail.len() as u64,
        whole.len() as u64
    );
    Ok(())
}

proptest! {
    /// Whatever comes in whatever pieces: both ends, every byte counted, bounded; shrunk, too.
    #[test]
    fn both_ends_are_kept_and_every_byte_is_counted(
        pieces in prop::collection::vec("[a-z\n中🦀]{0,40}", 0..30),
        max in 4_usize..60,
        smaller in 4_usize..60,
    ) {
        let mut ends = HeadAndTail::new(max);
        let mut whole = String::new();
        let mut longest = 0;
        for piece in &pieces {
            ends.push(piece);
            whole.push_str(piece);
            longest = longest.max(piece.len());
            is_ends_of(&ends, &whole)?;
            prop_assert!(ends.head.len() <= max && ends.tail.len() <= 2 * max);
            // A growing string has at most twice the capacity of its contents, or eight bytes.
            prop_assert!(ends.head.capacity() <= (2 * max).max(8));
            prop_assert!(ends.tail.capacity() <= (2 * (2 * max + longest)).max(8));
        }
        let all = whole.len();
        if all <= max {
            prop_assert_eq!(ends.pieces().missing, 0);
        }
        let smaller = smaller.min(max);
        ends.shrink(smaller);
        is_ends_of(&ends, &whole)?;
        prop_assert!(ends.head.len() + ends.tail.len() <= 2 * smaller);
        if all <= 2 * smaller {
            prop_assert_eq!(ends.pieces().missing, 0);
        }
        let taken = ends.take();
        is_ends_of(&taken, &whole)?;
        is_ends_of(&ends, "")?;
    }
}
