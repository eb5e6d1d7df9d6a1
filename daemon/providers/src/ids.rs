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

/// An id of exactly nine letters and digits: unchanged if it is one, otherwise made of a checksum. There are 2^53 of them,
/// so two ids of one session meet in no practical case.
pub(crate) fn nine(id: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    // The last step of a checksum changes its low bits only little: they are mixed before they become digits.
    let mut rest = sum(id);
    rest = (rest ^ (rest >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    rest ^= rest >> 32;
    let digits = (0..9).map(|_| {
        let digit = DIGITS[usize::try_from(rest % 62).unwrap_or_default()];
        rest /= 62;
        char::from(digit)
    });
    digits.collect()
}

/// FNV-1a: the same on every machine and in every version.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_of_nine_are_valid_stable_and_without_collisions(
            ids in prop::collection::btree_set("[a-zA-Z0-9_:.-]{0,40}", 0..200),
            numbered in prop::collection::btree_set(0_u32..100_000, 0..200),
        ) {
            let numbered = numbered.iter().map(|number| format!("call_{number}"));
            let all: BTreeSet<String> = ids.into_iter().chain(numbered).collect();
            let made: BTreeSet<String> = all.iter().map(|id| nine(id)).collect();
            prop_assert_eq!(made.len(), all.len());
            for id in &made {
                prop_assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{}", id);
                prop_assert_eq!(&nine(id), id);
            }
        }
    }

    #[test]
    fn ids_of_nine_are_the_same_in_every_version() {
        assert_eq!(nine("D681PevKs"), "D681PevKs");
        // What a vendor has cached is lost if they change.
        assert_eq!(nine("call_0"), "NmtFDMYA0");
        assert_eq!(nine("call_1"), "Ng0Np4viQ");
    }

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
