//! Whole numbers in arguments: every option that takes one says what it expects, with an example.
//!
//! Amounts of other kinds (dollars, tokens, minutes, seconds) have parsers of their own, which say the same.

use std::ops::RangeInclusive;

use crate::messages::common::Msg;

/// The parser of an option that takes a whole number within `range`. `example`: a value that users give it.
pub fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
    example: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| expected(&range, example))
    }
}

fn expected(range: &RangeInclusive<u64>, example: u64) -> String {
    match (*range.start(), *range.end()) {
        (from, u64::MAX) => say!(Msg::ExpectedFrom, from, example),
        (from, to) => say!(Msg::ExpectedWithin, from, to, example),
    }
}

#[cfg(test)]
mod tests;
