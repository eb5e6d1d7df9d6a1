//! Reasons of blocks in a form that rewording by case, spaces, punctuation and character width does not change.

use unicode_normalization::UnicodeNormalization;

/// The letters and digits of a reason, in lower case and ordinary width. A reason without any is kept as it is, so that
/// two of them differ.
pub(crate) fn normalise(reason: &str) -> String {
    let folded: String = reason
        .nfkc()
        .flat_map(char::to_lowercase)
        // The lower case of a few characters is not normalised: `İ`.
        .nfkc()
        .filter(|c| c.is_alphanumeric())
        .collect();
    match folded.is_empty() {
        true => reason.trim().to_owned(),
        false => folded,
    }
}
