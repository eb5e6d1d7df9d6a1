//! The bytes of a request, while it is put together and sent. Memory that is new to the process costs a fault for each page of
//! 4 KB, which takes five times as long as to copy it. So long ones lie on huge pages, and shorter ones, which the C library
//! would also take from the kernel, get all their pages at once.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapOptions};

/// From this many bytes on huge pages are asked for: the size of one on x86-64 and ARM64
/// (`/sys/kernel/mm/transparent_hugepage/hpage_pmd_size`).
const HUGE_FROM: usize = 2 * 1024 * 1024;

/// From this many bytes on the C library takes memory from the kernel (`MALLOC_MMAP_THRESHOLD_`, set by the daemon's parent).
const MAPPED_FROM: usize = 128 * 1024;

/// Bytes that are appended to a memory of known size.
pub struct BodyBuffer(Memory);

enum Memory {
    Heap(Vec<u8>),
    /// Its first `filled` bytes are in use.
    Pages {
        map: MmapMut,
        filled: usize,
    },
}

impl BodyBuffer {
    /// An empty one with room for so many bytes. More make it slower, as a `Vec`.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let map = match bytes {
            HUGE_FROM.. => huge_pages(bytes),
            MAPPED_FROM.. => MmapOptions::new().len(bytes).populate().map_anon().ok(),
            _ => None,
        };
        Self(match map {
            Some(map) => Memory::Pages { map, filled: 0 },
            None => Memory::Heap(Vec::with_capacity(bytes)),
        })
    }

    /// So many zeros.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Self {
        let Self(mut memory) = Self::with_capacity(bytes);
        match &mut memory {
            Memory::Heap(heap) => heap.resize(bytes, 0),
            Memory::Pages { filled, .. } => *filled = bytes,
        }
        Self(memory)
    }

    /// Appends bytes.
    pub fn extend_from_slice(&mut self, more: &[u8]) {
        if let Memory::Pages { map, filled } = &mut self.0 {
            let end = *filled + more.len();
            if let Some(place) = map.get_mut(*filled..end) {
                place.copy_from_slice(more);
                *filled = end;
                return;
            }
            self.0 = Memory::Heap(self.to_vec());
        }
        if let Memory::Heap(heap) = &mut self.0 {
            heap.extend_from_slice(more);
        }
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8) {
        self.extend_from_slice(&[byte]);
    }

    /// Removes the last byte.
    pub fn pop(&mut self) {
        match &mut self.0 {
            Memory::Heap(heap) => {
                heap.pop();
            }
            Memory::Pages { filled, .. } => *filled = filled.saturating_sub(1),
        }
    }
}

/// Memory on huge pages, if the kernel has any. `None`: none of this size at all.
fn huge_pages(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    // Where there are none the usual pages do as well.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

impl Deref for BodyBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Heap(heap) => heap,
            Memory::Pages { map, filled } => &map[..*filled],
        }
    }
}

impl DerefMut for BodyBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Heap(heap) => heap,
            Memory::Pages { map, filled } => &mut map[..*filled],
        }
    }
}

impl AsRef<[u8]> for BodyBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for BodyBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl Clone for BodyBuffer {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        copy.extend_from_slice(self);
        copy
    }
}

impl From<Vec<u8>> for BodyBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Memory::Heap(bytes))
    }
}

impl fmt::Debug for BodyBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for BodyBuffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buffer_holds_what_was_appended_whatever_its_room(
            room in prop_oneof![0_usize..100, MAPPED_FROM..MAPPED_FROM + 10, HUGE_FROM - 10..HUGE_FROM + 10],
            first in prop_oneof![0_usize..50, MAPPED_FROM - 30..MAPPED_FROM + 30, HUGE_FROM - 30..HUGE_FROM + 30],
            rest in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10),
        ) {
            let mut buffer = BodyBuffer::with_capacity(room);
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
        for bytes in [0, 5, MAPPED_FROM, HUGE_FROM, HUGE_FROM + 5] {
            let mut buffer = BodyBuffer::zeroed(bytes);
            assert!(buffer.len() == bytes && buffer.iter().all(|byte| *byte == 0));
            buffer.as_mut().fill(3);
            assert!(buffer.iter().all(|byte| *byte == 3));
        }
    }
}
