//! All rules of a session, from all layers, prepared for matching.
//!
//! Built once when rules change; `decide` only queries it. A rule that denies or asks applies whatever its layer is. A
//! rule that allows counts only from a layer that the user wrote or trusts.

use std::fmt;

use contract::{ArgumentUse, Family, ToolSpec};
use proto::record::Rules;

use crate::call::{Access, Call};
use crate::names::KnownTools;
use crate::rule::{self, List, RuleProblem, Target};

mod lists;

pub(crate) use lists::{AllowRules, TighteningRules};

/// The layer that a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    User,
    Project,
    /// Always allowed by a user's answer: stored for the workspace, beyond the session.
    Persisted,
    /// Allowed by a user's answer for the rest of the session.
    Session,
    /// `--allow`, `--ask`, `--deny` of one run.
    Run,
    BuiltIn,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Persisted => "persisted",
            Self::Session => "session",
            Self::Run => "run",
            Self::BuiltIn => "built-in",
        })
    }
}

/// A rule as written.
#[derive(Clone, Debug)]
pub(crate) struct RuleSource {
    pub(crate) text: String,
    pub(crate) layer: Layer,
    /// It was a deny rule, but could not be parsed.
    pub(crate) broken_deny: bool,
}

/// All rules of a session.
#[derive(Debug)]
pub struct RuleSet {
    sources: Vec<RuleSource>,
    pub(crate) deny: TighteningRules,
    pub(crate) ask: TighteningRules,
    pub(crate) allow: AllowRules,
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::parse(&[], &[]).0
    }
}

impl RuleSet {
    /// Parses the rules of all layers; each layer says whether it is trusted to allow anything. `tools`: the tools that
    /// rules may name. Rules that could not be parsed as written are reported, and never allow anything.
    #[must_use]
    pub fn parse(
        layers: &[(Layer, &Rules, bool)],
        tools: &[&ToolSpec],
    ) -> (Self, Vec<RuleProblem>) {
        let known = KnownTools(tools);
        let mut set = Self {
            sources: Vec::new(),
            deny: TighteningRules::new(),
            ask: TighteningRules::new(),
            allow: AllowRules::new(),
        };
        let mut problems = Vec::new();
        for (layer, rules, trusted) in layers {
            for text in &rules.deny {
                set.add_tightening((*layer, List::Deny), text, known, &mut problems);
            }
            for text in &rules.ask {
                set.add_tightening((*layer, List::Ask), text, known, &mut problems);
            }
            for text in &rules.allow {
                set.add_allowing((*layer, *trusted), text, known, &mut problems);
            }
        }
        set.finish(&mut problems);
        (set, problems)
    }

    /// The paths of all rules that deny this access, as written in rules: for callers that also enforce them by other
    /// means. Rules for a whole family are not included.
    #[must_use]
    pub fn denied_paths(&self, access: Access) -> &[String] {
        match access {
            Access::Read => self.deny.read.texts(),
            Access::Edit => self.deny.edit.texts(),
        }
    }

    /// Whether a rule denies all of this access, whatever the path.
    #[must_use]
    pub fn denies_all(&self, access: Access) -> bool {
        self.deny.family(access).is_some()
    }

    /// Whether any rule denies commands or asks about them.
    pub(crate) fn tightens_commands(&self) -> bool {
        self.deny.has_bash() || self.ask.has_bash()
    }

    /// Whether a command must be checked against a rule that the sandbox cannot enforce: one about commands, or one
    /// that asks about paths. The sandbox enforces denied paths.
    pub(crate) fn wants_commands_known(&self) -> bool {
        let asks_about = |access| self.ask.any(access).is_some();
        self.tightens_commands() || asks_about(Access::Read) || asks_about(Access::Edit)
    }

    pub(crate) fn source(&self, index: usize) -> &RuleSource {
        &self.sources[index]
    }

    fn add_source(&mut self, layer: Layer, text: &str) -> usize {
        self.sources.push(RuleSource {
            text: text.trim().to_owned(),
            layer,
            broken_deny: false,
        });
        self.sources.len() - 1
    }

    fn add_tightening(
        &mut self,
        (layer, list): (Layer, List),
        text: &str,
        known: KnownTools<'_>,
        problems: &mut Vec<RuleProblem>,
    ) {
        let index = self.add_source(layer, text);
        let lists = if list == List::Deny {
            &mut self.deny
        } else {
            &mut self.ask
        };
        let (fault, effect) = match rule::parse(text, list, known) {
            Ok(rule) => {
                let unknown = rule::unknown_tool(&rule, known);
                lists.add(rule, index);
                match unknown {
                    Some(fault) => (fault, "the rule takes effect once it exists".to_owned()),
                    None => return,
                }
            }
            Err((Target::Unknown, fault)) => {
                // It is unknown what should have been denied, so every writing call asks a user.
                self.sources[index].broken_deny = list == List::Deny;
                let first = self.ask.whole.entry(Target::Unknown).or_insert(index);
                if list == List::Deny {
                    *first = index;
                }
                let effect =
                    "until this is fixed, every call that changes something needs approval";
                (fault, effect.to_owned())
            }
            Err((target, fault)) => {
                let words = target.words();
                lists.whole.entry(target).or_insert(index);
                (
                    fault,
                    format!("until this is fixed, it applies to every call of {words}"),
                )
            }
        };
        problems.push(RuleProblem {
            layer,
            list,
            text: text.to_owned(),
            reason: format!("{fault}; {effect}"),
            fault,
        });
    }

    fn add_allowing(
        &mut self,
        (layer, trusted): (Layer, bool),
        text: &str,
        known: KnownTools<'_>,
        problems: &mut Vec<RuleProblem>,
    ) {
        let allows_nothing = |fault: String| (format!("{fault}; it allows nothing"), fault);
        let (reason, fault) = match rule::parse(text, List::Allow, known) {
            Err((_, fault)) => allows_nothing(fault),
            Ok(_) if !trusted => (
                "the directory is not trusted, so it allows nothing".to_owned(),
                "the directory is not trusted".to_owned(),
            ),
            Ok(rule) => match rule::unknown_tool(&rule, known) {
                Some(fault) => allows_nothing(fault),
                None => {
                    let index = self.add_source(layer, text);
                    self.allow.add(rule, index);
                    return;
                }
            },
        };
        problems.push(RuleProblem {
            layer,
            list: List::Allow,
            text: text.to_owned(),
            fault,
            reason,
        });
    }

    /// Builds the matchers. A rule whose pattern cannot be built applies to its whole family, or allows nothing.
    fn finish(&mut self, problems: &mut Vec<RuleProblem>) {
        let mut failed = Vec::new();
        for (lists, list) in [(&mut self.deny, List::Deny), (&mut self.ask, List::Ask)] {
            for (index, target) in lists.finish() {
                lists.whole.entry(target).or_insert(index);
                failed.push((list, index));
            }
        }
        let allowing = self
            .allow
            .read
            .finish()
            .into_iter()
            .chain(self.allow.edit.finish());
        failed.extend(allowing.map(|index| (List::Allow, index)));
        problems.extend(failed.into_iter().map(|(list, index)| {
            let RuleSource { text, layer, .. } = self.source(index).clone();
            RuleProblem {
                layer,
                list,
                text,
                fault: UNBUILT.to_owned(),
                reason: UNBUILT.to_owned(),
            }
        }));
    }
}

/// Of a rule whose pattern cannot be built.
const UNBUILT: &str = "its path could not be made into a matcher";

impl Target {
    fn words(&self) -> String {
        match self {
            Self::Bash => "`Bash`".to_owned(),
            Self::Edit => "`Edit`".to_owned(),
            Self::Read => "`Read`".to_owned(),
            Self::WebFetch => "`WebFetch`".to_owned(),
            Self::WebSearch => "`WebSearch`".to_owned(),
            Self::Task => "`Task`".to_owned(),
            Self::Memory => "`Memory`".to_owned(),
            Self::Mcp => "`Mcp`".to_owned(),
            Self::McpServer(server) => format!("`mcp__{server}`"),
            Self::Tool(tool) => format!("`{tool}`"),
            Self::Unknown => "any tool that changes something".to_owned(),
        }
    }

    fn of(access: Access) -> Self {
        match access {
            Access::Read => Self::Read,
            Access::Edit => Self::Edit,
        }
    }
}

/// All targets that match a call as a whole.
fn targets(call: &Call<'_>) -> Vec<Target> {
    let mut targets = vec![Target::Tool(call.tool.name.to_string())];
    if call.is_mcp() {
        targets.push(Target::Mcp);
        // A server's name may contain `__`: every way to split the name is tried.
        let rest = &call.tool.name["mcp__".len()..];
        targets.extend(
            rest.match_indices("__")
                .map(|(at, _)| Target::McpServer(rest[..at].to_owned())),
        );
        return targets;
    }
    targets.extend(match call.tool.family {
        Family::Bash => Some(Target::Bash),
        Family::Edit => Some(Target::Edit),
        Family::Read => Some(Target::Read),
        Family::WebFetch => Some(Target::WebFetch),
        Family::WebSearch => Some(Target::WebSearch),
        Family::Task => Some(Target::Task),
        Family::Memory => Some(Target::Memory),
        Family::Session => None,
    });
    targets
}

/// The same for rules that allow: only the shortest server name, because a longer one may be part of the tool's name.
fn targets_to_allow(call: &Call<'_>) -> Vec<Target> {
    let mut servers = 0;
    let mut targets = targets(call);
    targets.retain(|target| {
        let server = matches!(target, Target::McpServer(_));
        servers += u32::from(server);
        !server || servers == 1
    });
    targets
}

/// The host that a call contacts, in lower case. `None`: parsers of URLs may read it differently.
pub(crate) fn host(call: &Call<'_>) -> Option<String> {
    let url = call.text_of(ArgumentUse::Url)?.trim();
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:@[]!$&'()*+,;=".contains(c);
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !scheme.chars().all(is_scheme) || !authority.chars().all(is_plain) {
        return None;
    }
    let host = authority.rsplit('@').next()?;
    let host = host
        .split(':')
        .next()?
        .trim_end_matches('.')
        .to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// The same as `find_domain`, for rules that deny or ask: an address that is not plain may be any.
fn find_possible_domain(domains: &[(String, usize)], call: &Call<'_>) -> Option<usize> {
    let is_unclear = call.tool.family == Family::WebFetch && host(call).is_none();
    let any = domains.first().filter(|_| is_unclear);
    any.map(|(_, index)| *index)
        .or_else(|| find_domain(domains, call))
}

fn find_domain(domains: &[(String, usize)], call: &Call<'_>) -> Option<usize> {
    if call.tool.family != Family::WebFetch || domains.is_empty() {
        return None;
    }
    let host = host(call)?;
    let covers = |domain: &str| {
        host.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    domains
        .iter()
        .find(|(domain, _)| covers(domain))
        .map(|(_, index)| *index)
}
