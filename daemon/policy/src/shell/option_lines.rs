//! Options of programs that start others with them: their values are lines for a shell, or name a program with its words.
//! They are not parsed, so that the part is doubtful. Called by `launch`.

use super::types::Word;

/// Parts of a key of Git's config that give a name another meaning.
const GIT_NAMES: &[&str] = &["alias.", "autocorrect", "include.", "includeif."];

/// Parts of a key of Git's config whose value is a line or a program.
const GIT_LINES: &[&str] = &[
    "askpass",
    "browser.",
    "core.editor",
    "external",
    "filter.",
    "fsmonitor",
    "gpg.program",
    "helper",
    "hookspath",
    "man.",
    "pager",
    "protocol.ext",
    "receivepack",
    "sequence.editor",
    "sshcommand",
    "tar.",
    "textconv",
    "trailer.",
    "uploadpack",
];

/// Options of Git before its subcommand that set no key of its config from elsewhere, as `--config-env` does.
const GIT_OPTIONS: &[&str] = &[
    "--attr-source",
    "--bare",
    "--exec-path",
    "--git-dir",
    "--glob-pathspecs",
    "--help",
    "--html-path",
    "--icase-pathspecs",
    "--info-path",
    "--literal-pathspecs",
    "--man-path",
    "--namespace",
    "--no-advice",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--noglob-pathspecs",
    "--paginate",
    "--version",
    "--work-tree",
    "-C",
    "-P",
    "-c",
    "-h",
    "-p",
    "-v",
];

/// Whether a text says something else to a shell than it shows: names in plain lines are found as they are.
fn is_obscure(word: &Word) -> bool {
    !word.is_known()
        || word
            .text
            .contains(['$', '`', '\\', '\'', '"', '{', '*', '?', '['])
}

/// Whether an argument of a program may be such a line.
pub(super) fn has_line(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let contains = |parts: &[&str]| {
        let mut texts = arguments.iter().map(|word| word.text.to_ascii_lowercase());
        texts.any(|text| parts.iter().any(|part| text.contains(part)))
    };
    let begins = |parts: &[&str]| {
        let is_one = |word: &Word| parts.iter().any(|part| word.text.starts_with(part));
        arguments.iter().any(is_one)
    };
    let has_obscure = || arguments.iter().any(is_obscure);
    let has_cluster = |letters: [char; 2]| {
        let is_cluster = |text: &str| text.starts_with('-') && !text.starts_with("--");
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        texts.any(|text| is_cluster(text) && text.ends_with(letters))
    };
    match program {
        "git" => has_line_of_git(words),
        "bsdtar" | "gtar" | "tar" => {
            let lines = [
                "--to-c",
                "--checkpoint-a",
                "--use-c",
                "--info-s",
                "--new-volume-s",
            ];
            has_obscure() && (begins(&lines) || has_cluster(['F', 'I']))
        }
        "scp" | "sftp" | "ssh" => {
            contains(&["proxycommand", "localcommand", "hostscommand"]) && has_obscure()
        }
        "split" => begins(&["--fi"]) && has_obscure(),
        "zip" => begins(&["-TT", "--unzip"]) && has_obscure(),
        "prove" => begins(&["--exec", "-e"]),
        "apt" | "apt-get" | "dpkg" => contains(&["invoke"]),
        _ => false,
    }
}

fn has_line_of_git(words: &[Word]) -> bool {
    let globals = crate::git::globals(words);
    let (before, after) = words.split_at(globals.min(words.len()));
    let is_key = |word: &Word, keys: &[&str]| {
        let text = word.text.to_ascii_lowercase();
        keys.iter().any(|key| text.contains(key))
    };
    let sets = |word: &Word| is_key(word, GIT_NAMES) || is_key(word, GIT_LINES) && is_obscure(word);
    let mut before = before.iter().skip(1);
    while let Some(word) = before.next() {
        let name = word.text.split('=').next().unwrap_or_default();
        let is_valued = crate::git::global(&word.text) == Some(true);
        let value = is_valued.then(|| before.next()).flatten();
        if !GIT_OPTIONS.contains(&name) || name.starts_with("-c") && value.is_some_and(sets) {
            return true;
        }
    }
    let Some((subcommand, arguments)) = after.split_first() else {
        return false;
    };
    let has_obscure = arguments.iter().any(is_obscure);
    let is_line = |word: &Word| {
        let text = word.text.as_str();
        let is_program = ["--upload-p", "--receive-p", "--exec=", "--extcmd"];
        is_program.iter().any(|option| text.starts_with(option))
    };
    let has = |options: &[&str]| {
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        texts.any(|text| options.contains(&text))
    };
    let takes_address = ["archive", "clone", "fetch", "ls-remote", "pull"];
    let is_address = |word: &Word| word.text.starts_with("ext::");
    let has_line = match subcommand.text.as_str() {
        "for-each-repo" => return true,
        "config" => {
            if arguments.iter().any(|word| is_key(word, GIT_NAMES)) {
                return true;
            }
            arguments.iter().any(|word| is_key(word, GIT_LINES))
        }
        "rebase" => has(&["-x", "--exec"]),
        "clone" => has(&["-u"]),
        "difftool" => has(&["-x"]),
        _ => false,
    };
    takes_address.contains(&&*subcommand.text) && arguments.iter().any(is_address)
        || has_obscure && (has_line || arguments.iter().any(is_line))
}
