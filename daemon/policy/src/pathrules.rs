//! Rules over paths, matched many at once.
//!
//! Plain patterns (`docs/**`, `src/main.rs`) are looked up in a map; only patterns with inner wildcards use globset, in
//! small portions. Called by `ruleset`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::budget::{Budget, Exhausted};

/// Maximum patterns in one glob set: keeps its automaton within its limits.
const PORTION: usize = 128;
/// Maximum bytes of an existing path; longer ones are not tried.
const PATH_MAX: usize = 4096;

/// The directory that a pattern is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PatternBase {
    Root,
    Home,
    Absolute,
}

/// A pattern over paths, normalised: no `.`, no empty names, no leading or trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    pub(crate) base: PatternBase,
    pub(crate) glob: String,
}

/// Why a text is not a valid pattern.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("the path is empty")]
    Empty,
    #[error("a path in a rule cannot contain `..`")]
    Climbs,
    #[error("a path in a rule cannot name another user's home")]
    OtherHome,
    #[error("not a valid glob: {0}")]
    Glob(String),
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let (base, rest) = match text.strip_prefix('~') {
            Some("") => (PatternBase::Home, ""),
            Some(rest) if rest.starts_with('/') => (PatternBase::Home, rest),
            Some(_) => return Err(PatternError::OtherHome),
            None if text.starts_with('/') => (PatternBase::Absolute, text),
            None => (PatternBase::Root, text),
        };
        let names: Vec<&str> = rest
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".")
            .collect();
        if names.contains(&"..") {
            return Err(PatternError::Climbs);
        }
        let mut glob = names.join("/");
        // A folder means all files in it.
        if text.ends_with('/') && !glob.is_empty() {
            glob.push_str("/**");
        }
        if glob.is_empty() {
            match text {
                "" => return Err(PatternError::Empty),
                "." | "./" | "/" | "~" | "~/" => glob.push_str("**"),
                _ => return Err(PatternError::Empty),
            }
        }
        compile(&glob).map_err(|error| PatternError::Glob(error.to_string()))?;
        Ok(Self { base, glob })
    }

    /// The pattern as written in a rule.
    fn text(&self) -> String {
        match self.base {
            PatternBase::Root => self.glob.clone(),
            PatternBase::Home => format!("~/{}", self.glob),
            PatternBase::Absolute => format!("/{}", self.glob),
        }
    }

    /// Its leading folders without wildcards.
    fn fixed(&self) -> String {
        let fixed: Vec<&str> = self
            .glob
            .split('/')
            .take_while(|name| !is_wild(name))
            .collect();
        fixed.join("/")
    }
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

fn compile(glob: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

/// Whether a pattern also matches everything below its path: in rules that deny or ask, it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternReach {
    /// Only paths that match the pattern.
    Exact,
    /// Also everything below a matching path: `secrets` means `secrets/**`.
    Below,
}

/// A path relative to each base.
pub(crate) struct PathLocation<'a> {
    pub(crate) path: &'a Path,
    pub(crate) root: &'a Path,
    pub(crate) home: &'a Path,
}

impl PathLocation<'_> {
    fn from(&self, base: PatternBase) -> Option<String> {
        let rest = match base {
            PatternBase::Root => self.path.strip_prefix(self.root).ok()?,
            PatternBase::Home => self.path.strip_prefix(self.home).ok()?,
            PatternBase::Absolute => self.path.strip_prefix("/").ok()?,
        };
        Some(rest.to_string_lossy().into_owned())
    }
}

/// A set of patterns with the indices of their rules.
#[derive(Debug)]
pub(crate) struct PathRules {
    reach: PatternReach,
    /// Paths without wildcards: the path itself, …
    exact: HashMap<(PatternBase, String), usize>,
    /// … and everything below it.
    below: HashMap<(PatternBase, String), usize>,
    sets: Vec<(PatternBase, GlobSet, Vec<usize>)>,
    waiting: Vec<(PatternBase, Vec<(String, usize)>)>,
    /// Base and literal start of every pattern.
    fixed: Vec<(PatternBase, String, usize)>,
    /// The patterns as written in a rule.
    texts: Vec<String>,
}

impl PathRules {
    pub(crate) fn new(reach: PatternReach) -> Self {
        Self {
            reach,
            exact: HashMap::new(),
            below: HashMap::new(),
            sets: Vec::new(),
            waiting: Vec::new(),
            fixed: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Any rule of the set.
    pub(crate) fn first(&self) -> Option<usize> {
        self.fixed.first().map(|(.., rule)| *rule)
    }

    /// All patterns, as written in rules.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(crate) fn add(&mut self, pattern: &PathPattern, rule: usize) {
        self.fixed.push((pattern.base, pattern.fixed(), rule));
        self.texts.push(pattern.text());
        let folder = pattern.glob.strip_suffix("/**");
        let literal = folder.unwrap_or(&pattern.glob);
        if !is_wild(literal) {
            let key = (pattern.base, literal.to_owned());
            if folder.is_some() || self.reach == PatternReach::Below {
                self.below.entry(key.clone()).or_insert(rule);
            }
            self.exact.entry(key).or_insert(rule);
            return;
        }
        let mut globs = vec![pattern.glob.clone()];
        if let Some(folder) = folder {
            globs.push(folder.to_owned());
        } else if self.reach == PatternReach::Below && pattern.glob != "**" {
            globs.push(format!("{}/**", pattern.glob));
        }
        let index = self
            .waiting
            .iter()
            .position(|(base, _)| *base == pattern.base)
            .unwrap_or_else(|| {
                self.waiting.push((pattern.base, Vec::new()));
                self.waiting.len() - 1
            });
        self.waiting[index]
            .1
            .extend(globs.into_iter().map(|glob| (glob, rule)));
    }

    /// Builds the sets. Returns the rules whose patterns could not be built.
    pub(crate) fn finish(&mut self) -> Vec<usize> {
        let mut failed = Vec::new();
        for (base, globs) in std::mem::take(&mut self.waiting) {
            for portion in globs.chunks(PORTION) {
                let mut set = GlobSetBuilder::new();
                let mut rules = Vec::new();
                for (glob, rule) in portion {
                    match compile(glob) {
                        Ok(glob) => {
                            set.add(glob);
                            rules.push(*rule);
                        }
                        Err(_) => failed.push(*rule),
                    }
                }
                match set.build() {
                    Ok(set) => self.sets.push((base, set, rules)),
                    Err(_) => failed.extend(rules),
                }
            }
        }
        failed
    }

    /// The first rule that matches the path. `Err`: out of steps.
    pub(crate) fn find(
        &self,
        place: &PathLocation<'_>,
        budget: &mut Budget,
    ) -> Result<Option<usize>, Exhausted> {
        if self.fixed.is_empty() {
            return Ok(None);
        }
        if place.path.as_os_str().len() > PATH_MAX {
            return Err(Exhausted);
        }
        for base in [PatternBase::Root, PatternBase::Home, PatternBase::Absolute] {
            let Some(text) = place.from(base) else {
                continue;
            };
            if !budget.take(text.len() as u64 + 1) {
                return Err(Exhausted);
            }
            if let Some(rule) = self.look_up(base, &text) {
                return Ok(Some(rule));
            }
            for (_, set, rules) in self.sets.iter().filter(|(of, ..)| *of == base) {
                if !budget.take(128 + 8 * text.len() as u64) {
                    return Err(Exhausted);
                }
                if let Some(index) = set.matches(text.as_str()).first() {
                    return Ok(Some(rules[*index]));
                }
            }
        }
        Ok(None)
    }

    fn look_up(&self, base: PatternBase, text: &str) -> Option<usize> {
        if self.exact.is_empty() {
            return None;
        }
        if let Some(rule) = self.exact.get(&(base, text.to_owned())) {
            return Some(*rule);
        }
        let mut at = Path::new(text);
        while let Some(parent) = at.parent() {
            let key = (base, parent.to_string_lossy().into_owned());
            if let Some(rule) = self.below.get(&key) {
                return Some(*rule);
            }
            at = parent;
        }
        None
    }

    /// A rule that may match something below a folder, for tools that search folders.
    pub(crate) fn find_below(&self, place: &PathLocation<'_>) -> Option<usize> {
        self.fixed.iter().find_map(|(base, fixed, rule)| {
            let from: PathBuf = match base {
                PatternBase::Root => place.root.join(fixed),
                PatternBase::Home => place.home.join(fixed),
                PatternBase::Absolute => Path::new("/").join(fixed),
            };
            // A pattern that starts with a wildcard may match anywhere below its base.
            (from.starts_with(place.path) || place.path.starts_with(&from)).then_some(*rule)
        })
    }
}
