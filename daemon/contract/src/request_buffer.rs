//! Buffer for the bytes of a request, made to avoid page faults: the first touch of a page of 4 KB takes five times as long
//! as to copy it. Buffers of 2 MB or more ask for huge pages; from 128 KB all pages are populated at once.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapOptions};

/// Buffers from this many bytes ask for huge pages: the size of one where the usual ones have 4 KB
/// (`/sys/kernel/mm/transparent_hugepage/hpage_pmd_size`).
const HUGE_PAGE_MIN: usize = 2 * 1024 * 1024;

/// Buffers from this many bytes are mapped. The C library would map them too (`MALLOC_MMAP_THRESHOLD_`, set by the daemon's parent).
const MMAP_MIN: usize = 128 * 1024;

/// Bytes that are appended up to a known length.
pub struct RequestBuffer(Memory);

enum Memory {
    Heap(Vec<u8>),
    /// Its first `filled` bytes are in use.
    Pages {
        map: MmapMut,
        filled: usize,
    },
}

impl RequestBuffer {
    /// An empty buffer of this capacity. If more is appended, the contents move to a `Vec`.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let map = match bytes {
            HUGE_PAGE_MIN.. => huge_pages(bytes),
            MMAP_MIN.. => MmapOptions::new().len(bytes).populate().map_anon().ok(),
            _ => None,
        };
        Self(match map {
            Some(map) => Memory::Pages { map, filled: 0 },
            None => Memory::Heap(Vec::with_capacity(bytes)),
        })
    }

    /// A buffer of so many zeros.
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

/// Maps memory and asks for huge pages. `None`: it cannot be mapped.
fn huge_pages(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    // A failure is harmless: then it has ordinary pages.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

impl Deref for RequestBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Heap(heap) => heap,
            Memory::Pages { map, filled } => &map[..*filled],
        }
    }
}

impl DerefMut for RequestBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Heap(heap) => heap,
            Memory::Pages { map, filled } => &mut map[..*filled],
        }
    }
}

impl AsRef<[u8]> for RequestBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for RequestBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl Clone for RequestBuffer {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        copy.extend_from_slice(self);
        copy
    }
}

impl From<Vec<u8>> for RequestBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Memory::Heap(bytes))
    }
}

impl fmt::Debug for RequestBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for RequestBuffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests;
