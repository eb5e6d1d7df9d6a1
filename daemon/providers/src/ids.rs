//! Call ids that a vendor accepts.

/// An id with allowed characters and length: unchanged if it is valid, otherwise derived with a
/// checksum, so that distinct ids stay distinct. Ids come from other vendors when a session changes
/// its provider.
pub(crate) fn fit(id: &str, longest: usize) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.len() <= longest && id.chars().all(fits) {
        return id.to_owned();
    }
    let plain: String = id
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(longest.saturating_sub(17))
        .collect();
    format!("{plain}_{:016x}", sum(id))
}

/// FNV-1a: the same on every machine and in every version.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_ids_stay_and_others_are_mapped_without_collisions() {
        assert_eq!(fit("toolu_01-x", 64), "toolu_01-x");
        let made = fit("functions.read:0", 64);
        assert!(made.starts_with("functions_read_0_"), "{made}");
        assert_ne!(made, fit("functions.read.0", 64));
        let long = fit(&"x".repeat(100), 64);
        assert_eq!(long.len(), 64);
        assert_ne!(long, fit(&"x".repeat(101), 64));
        assert!(!fit("", 64).is_empty());
    }
}
