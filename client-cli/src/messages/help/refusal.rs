//! Why clap refuses arguments, in Chinese. Pure.

use std::error::Error as _;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use client::messages::Language;

client::catalog! {
    Error = "error: {0}", "错误：{0}";
    Hint = "  hint: {0}", "  提示：{0}";
    UnknownCommand = "unknown command `{0}`", "未知命令 `{0}`";
    UnknownArgument = "unexpected argument `{0}`", "多余的参数 `{0}`";
    InvalidValue = "invalid value `{0}` for `{1}`", "`{1}` 的值 `{0}` 无效";
    InvalidBecause = "invalid value `{0}` for `{1}`: {2}", "`{1}` 的值 `{0}` 无效：{2}";
    NoValue = "`{0}` needs a value", "`{0}` 需要一个值";
    Missing = "missing: {0}", "缺少：{0}";
    Conflict = "`{0}` cannot be used with {1}", "`{0}` 不能与 {1} 一起使用";
    OtherArguments = "other arguments", "其他参数";
    Twice = "`{0}` cannot be used more than once", "`{0}` 只能使用一次";
    Count = "wrong number of values for `{0}`", "`{0}` 的值的数量不对";
    NoCommand = "`{0}` needs a command", "`{0}` 需要一个命令";
    NotUtf8 = "an argument is not UTF-8", "有参数不是 UTF-8";
    Other = "the arguments are wrong", "参数有误";
    Near = "did you mean {0}?", "是否想用 {0}？";
    Choices = "possible values: {0}", "可选值：{0}";
    Literally = "to give `{0}` as a value, put `--` before it", "要把 `{0}` 作为值，请在前面加上 `--`";
    More = "For more information, try `--help`.", "更多信息请用 `--help`。";
}

const LANGUAGE: Language = Language::Chinese;

/// The whole error, as it is printed.
pub fn words(error: &Error) -> String {
    let what = what(error);
    let mut lines = vec![LANGUAGE.fill(Msg::Error, &[&what])];
    for hint in hints(error) {
        lines.push(String::new());
        lines.push(LANGUAGE.fill(Msg::Hint, &[&hint]));
    }
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        let usage = usage.to_string();
        lines.push(String::new());
        lines.push(usage.replacen("Usage: ", LANGUAGE.say(super::Msg::Usage), 1));
    }
    lines.push(String::new());
    lines.push(LANGUAGE.say(Msg::More).to_owned());
    lines.join("\n") + "\n"
}

fn what(error: &Error) -> String {
    let argument = joined(error, ContextKind::InvalidArg, ", ");
    let value = joined(error, ContextKind::InvalidValue, ", ");
    let fill = |message: Msg, values: &[&str]| LANGUAGE.fill(message, values);
    match error.kind() {
        ErrorKind::InvalidSubcommand => fill(
            Msg::UnknownCommand,
            &[&joined(error, ContextKind::InvalidSubcommand, ", ")],
        ),
        ErrorKind::UnknownArgument => fill(Msg::UnknownArgument, &[&argument]),
        ErrorKind::InvalidValue if value.is_empty() => fill(Msg::NoValue, &[&argument]),
        ErrorKind::InvalidValue => fill(Msg::InvalidValue, &[&value, &argument]),
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            fill(
                Msg::InvalidBecause,
                &[&value, &argument, &LANGUAGE.translate(&why)],
            )
        }
        ErrorKind::MissingRequiredArgument => fill(Msg::Missing, &[&argument]),
        ErrorKind::ArgumentConflict => match joined(error, ContextKind::PriorArg, "`、`").as_str()
        {
            "" => fill(
                Msg::Conflict,
                &[&argument, LANGUAGE.say(Msg::OtherArguments)],
            ),
            same if same == argument => fill(Msg::Twice, &[&argument]),
            others => fill(Msg::Conflict, &[&argument, &format!("`{others}`")]),
        },
        ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues
        | ErrorKind::NoEquals => fill(Msg::Count, &[&argument]),
        ErrorKind::MissingSubcommand => fill(
            Msg::NoCommand,
            &[&joined(error, ContextKind::InvalidSubcommand, ", ")],
        ),
        ErrorKind::InvalidUtf8 => LANGUAGE.say(Msg::NotUtf8).to_owned(),
        _ => LANGUAGE.say(Msg::Other).to_owned(),
    }
}

fn hints(error: &Error) -> Vec<String> {
    let near = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let near = near
        .into_iter()
        .map(|kind| joined(error, kind, "`、`"))
        .find(|near| !near.is_empty());
    let near = near.map(|near| LANGUAGE.fill(Msg::Near, &[&format!("`{near}`")]));
    let choices = joined(error, ContextKind::ValidValue, "、");
    let choices = (!choices.is_empty()).then(|| LANGUAGE.fill(Msg::Choices, &[&choices]));
    let argument = joined(error, ContextKind::InvalidArg, ", ");
    let is_option = error.kind() == ErrorKind::UnknownArgument && argument.starts_with('-');
    let literally =
        (is_option && near.is_none()).then(|| LANGUAGE.fill(Msg::Literally, &[&argument]));
    [near, choices, literally].into_iter().flatten().collect()
}

/// What clap says under a kind; empty: nothing.
fn joined(error: &Error, kind: ContextKind, between: &str) -> String {
    match error.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(several)) => several.join(between),
        _ => String::new(),
    }
}
