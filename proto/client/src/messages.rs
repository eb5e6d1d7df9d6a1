//! The words that a person reads, in every language that there is: a catalog for each part of a client.
//!
//! A message is a row with all its languages side by side, so that none can be forgotten. `{0}`, `{1}` are placeholders for values
//! ([`fill`]). A client has catalogs of its own for what only it shows.

pub mod daemon;
pub mod failures;
pub mod health;
pub mod library;
pub mod session_failures;
pub mod settings;
pub mod trace;
pub mod transcript;

/// A language of the interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    #[default]
    English,
    /// 简体中文.
    Chinese,
}

impl Language {
    /// By the word of the setting or of `REASONIX_LANG`: `en`, `zh`, or a locale.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        match word.split(['_', '-', '.']).next() {
            Some("en" | "c" | "posix") => Some(Self::English),
            Some("zh") => Some(Self::Chinese),
            _ => None,
        }
    }

    /// `REASONIX_LANG` if it names a language that we have; else the locale of messages; else English.
    #[must_use]
    pub fn of_environment(get: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let own = get("REASONIX_LANG").and_then(|word| Self::named(&word));
        // The first of these that is set decides.
        let mut locales = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter();
        let locale = || locales.find_map(get).and_then(|word| Self::named(&word));
        own.or_else(locale).unwrap_or_default()
    }

    /// The words of a message.
    #[must_use]
    pub fn say<M: Message>(self, message: M) -> &'static str {
        match self {
            Self::English => message.english(),
            Self::Chinese => message.chinese(),
        }
    }

    /// The words of a message with values in their places.
    #[must_use]
    pub fn fill<M: Message>(self, message: M, values: &[&str]) -> String {
        fill(self.say(message), values)
    }

    /// Some of a thing: one message for one, another for more. Both have the number as `{0}`.
    #[must_use]
    pub fn counted<M: Message>(self, count: u64, one: M, more: M) -> String {
        let message = if count == 1 { one } else { more };
        self.fill(message, &[&count.to_string()])
    }
}

/// A row of a catalog.
pub trait Message: Copy {
    fn english(self) -> &'static str;
    fn chinese(self) -> &'static str;
}

/// Replaces `{0}`, `{1}`, … with values. Placeholders inside a value are not replaced.
#[must_use]
pub fn fill(words: &str, values: &[&str]) -> String {
    let mut out = String::with_capacity(words.len() + 16);
    let mut rest = words;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let close = rest[at..].find('}').map(|end| at + end);
        let value = close.and_then(|close| {
            let index: usize = rest[at + 1..close].parse().ok()?;
            Some((values.get(index)?, close))
        });
        match value {
            Some((value, close)) => {
                out.push_str(value);
                rest = &rest[close + 1..];
            }
            None => {
                out.push('{');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Makes a catalog: an enum, a row for each message. It is called `Msg` if no name precedes the rows.
#[macro_export]
macro_rules! catalog {
    ($(#[$about:meta])* $catalog:ident: $($(#[$doc:meta])* $name:ident = $english:literal, $chinese:literal;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $catalog { $($(#[$doc])* $name,)* }

        impl $catalog {
            /// Every message.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }

        impl $crate::messages::Message for $catalog {
            fn english(self) -> &'static str {
                match self { $(Self::$name => $english,)* }
            }

            fn chinese(self) -> &'static str {
                match self { $(Self::$name => $chinese,)* }
            }
        }
    };
    ($($rows:tt)*) => {
        $crate::catalog! {
            /// The messages of this part of the screen.
            Msg: $($rows)*
        }
    };
}
#[cfg(test)]
mod tests;
