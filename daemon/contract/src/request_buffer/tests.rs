//! A buffer holds its bytes wherever they are.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn buffer_keeps_appended_bytes_for_any_capacity(
        room in prop_oneof![0_usize..100, MMAP_MIN..MMAP_MIN + 10, HUGE_PAGE_MIN - 10..HUGE_PAGE_MIN + 10],
        first in prop_oneof![0_usize..50, MMAP_MIN - 30..MMAP_MIN + 30, HUGE_PAGE_MIN - 30..HUGE_PAGE_MIN + 30],
        rest in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10),
    ) {
        let mut buffer = RequestBuffer::with_capacity(room);
        let mut expected = vec![7; first];
        buffer.extend_from_slice(&expected);
        for more in &rest {
            buffer.extend_from_slice(more);
            expected.extend_from_slice(more);
        }
        buffer.push(1);
        buffer.pop();
        buffer.push(2);
        expected.push(2);
        prop_assert!(buffer.clone() == buffer);
        prop_assert!(*buffer == *expected);
    }
}

#[test]
fn zeroed_buffer_can_be_written_in() {
    for bytes in [0, 5, MMAP_MIN, HUGE_PAGE_MIN, HUGE_PAGE_MIN + 5] {
        let mut buffer = RequestBuffer::zeroed(bytes);
        assert!(buffer.len() == bytes && buffer.iter().all(|byte| *byte == 0));
        buffer.as_mut().fill(3);
        assert!(buffer.iter().all(|byte| *byte == 3));
    }
}
