//! Why a call is asked about, as one plain clause for a dialog. The log and `permissions explain` have the whole sentence.

use crate::messages::Language;
use crate::messages::library::Msg;

/// Text around the reason proper that adds nothing to the question.
const BEFORE: [&str; 4] = [
    "no rule allows it: ",
    "cannot be fully checked: ",
    "the deny and ask rules cannot be fully checked: ",
    "always asked: ",
];
const BEHIND: &str = "; the sandbox cannot protect all denied paths";

/// Sentences of the daemon that are long, by their beginning and end, and their replacement.
const LONG: [(&str, &str, Msg); 5] = [
    (
        "the command names `",
        "`, which is a config file of the agent, its repository, an editor or a shell",
        Msg::NamesProtected,
    ),
    (
        "the command names `",
        "`, a git setting that makes git run a program",
        Msg::NamesGitSetting,
    ),
    (
        "a pattern of the command may match `",
        "`, which is a config file of the agent, its repository, an editor or a shell",
        Msg::MayMatchProtected,
    ),
    (
        "`",
        "` is a config file of the agent, its repository, an editor or a shell",
        Msg::IsProtected,
    ),
    ("`", "`", Msg::ToolAlways),
];

/// The reason in one clause. `rule`: a rule, or a sentence of the daemon.
#[must_use]
pub fn clause(language: Language, rule: &str) -> String {
    let always = rule.starts_with("always asked: ");
    let mut reason = rule.strip_suffix(BEHIND).unwrap_or(rule);
    while let Some(rest) = BEFORE.iter().find_map(|begin| reason.strip_prefix(begin)) {
        reason = rest;
    }
    for (begin, end, message) in LONG {
        let name = reason
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_suffix(end));
        if let Some(name) = name.filter(|name| always && !name.contains('`')) {
            return language.fill(message, &[name]);
        }
    }
    if is_rule(reason) {
        return language.fill(Msg::RuleAsks, &[reason]);
    }
    language.translate(reason).into_owned()
}

/// Whether it is written as a rule: a name, and parentheses perhaps. A sentence has blanks before any.
fn is_rule(reason: &str) -> bool {
    let (name, rest) = reason.split_once('(').unwrap_or((reason, ")"));
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name && rest.ends_with(')') && !name.contains('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_plain_clause_in_either_language() {
        let protected = "a config file of the agent, its repository, an editor or a shell";
        let names = format!("always asked: the command names `.bashrc`, which is {protected}");
        let configures = format!("always asked: `.git/config` is {protected}");
        let matches = format!(
            "always asked: a pattern of the command may match `reasonix.toml`, which is {protected}"
        );
        for (rule, english, chinese) in [
            ("no rule allows it", "no rule allows it", "没有规则允许"),
            (
                "cannot be fully checked: it runs inline Python",
                "it runs inline Python",
                "运行内联 Python 代码",
            ),
            (
                "no rule allows it: it has a redirection; the sandbox cannot protect all denied paths",
                "it has a redirection",
                "含有重定向",
            ),
            (
                "Bash(git push:*)",
                "the rule `Bash(git push:*)` asks about it",
                "规则 `Bash(git push:*)` 要求询问",
            ),
            (
                "Edit",
                "the rule `Edit` asks about it",
                "规则 `Edit` 要求询问",
            ),
            (
                &names,
                "it names the protected file `.bashrc`",
                "它提到受保护的文件 `.bashrc`",
            ),
            (
                "always asked: the command names `core.pager`, a git setting that makes git run a program",
                "it names `core.pager`, a git setting that makes git run a program",
                "它提到 `core.pager`，它是让 git 运行程序的 git 设置",
            ),
            (
                &matches,
                "a pattern in it may match the protected file `reasonix.toml`",
                "其中的通配模式可能匹配受保护的文件 `reasonix.toml`",
            ),
            (
                &configures,
                "`.git/config` is a protected file",
                "`.git/config` 是受保护的文件",
            ),
            (
                "always asked: `save`",
                "`save` always needs your answer",
                "`save` 始终需要你的同意",
            ),
        ] {
            assert_eq!(clause(Language::English, rule), english);
            assert_eq!(clause(Language::Chinese, rule), chinese);
        }
    }
}
