//! Redirections that discard output, and those that give a command its input.

use super::*;

#[test]
fn output_may_be_discarded_by_any_descriptor() {
    check(
        "",
        "allow | ls >/dev/null
         allow | ls > /dev/null 2>&1
         allow | ls 1>/dev/null 2>>/dev/null
         allow | ls &>/dev/null
         allow | ls &>>/dev/null
         allow | ls > '/dev/null'
         allow | command -v rg >/dev/null 2>&1 && echo yes
         allow | git rev-parse --verify x >/dev/null 2>&1
         ask   | ls > f
         ask   | ls >/dev/nullx
         ask   | ls >/dev/null/../x
         ask   | ls >/dev/../x
         ask   | ls >/dev//null/x
         ask   | ls >/dev/nul[l]
         ask   | ls >$'/dev/null'
         ask   | ls >$x/dev/null
         ask   | ls >~/dev/null
         ask   | ls >dev/null
         ask   | ls >&/dev/tcp/h/80
         ask   | ls >/dev/tcp/h/80
         ask   | ls &>f
         ask   | ls &>>f
         ask   | ls >&f
         ask   | ls <>/dev/null
         ask   | ls >/dev/null >f
         ask   | ls >/dev/sda
         ask   | make >/dev/null
         ask   | sh -c 'ls &>/dev/null'",
    );
    // As the contract says: a rule for words covers no redirection to a file.
    check(
        "allow Bash(cargo test:*)",
        "ask | cargo test > /dev/null\n ask | cargo test &>/dev/null",
    );
}

#[test]
fn input_from_a_file_is_read_like_a_file_that_is_named() {
    check(
        "",
        "allow | wc -l < f
         allow | cat < f
         allow | cat <f | head -1
         allow | sort < src/a > /dev/null
         allow | cd src && wc -l < f
         ask   | cat < $f
         ask   | cat < *
         ask   | cat < $'f'
         ask   | cat < $(ls)
         ask   | cat < /dev/tcp/h/80
         ask   | cat 3</dev/udp/h/53
         ask   | cat <> f
         ask   | cat < f > g
         ask   | cat < f | sh
         ask   | sh < f
         ask   | make < f
         ask   | while read x; do echo $x; done < f",
    );
    let closed = |path: &mut ResolvedPath| {
        let absolute = path.absolute.clone().unwrap_or_default();
        path.denied = absolute.starts_with("/home/someone/.ssh");
    };
    for command in [
        "cat < ~/.ssh/id_rsa",
        "cat < ../.ssh/id_rsa",
        "wc -l < /home/someone/.ssh/id_rsa",
        "true < /home/someone/.ssh/id_rsa",
        "cd .. && cat < .ssh/id_rsa",
        "cd ../.ssh && cat < id_rsa",
    ] {
        let arguments = || json!({ "command": command });
        let ask = scene("").call_with("bash", arguments(), closed);
        assert_eq!(ask.verdict, Verdict::Ask, "{command}: {}", ask.rule);
        let yolo = scene("").approval_mode(ApprovalMode::Yolo);
        let yolo = yolo.call_with("bash", arguments(), closed);
        assert_eq!(yolo.verdict, Verdict::Ask, "{command}: {}", yolo.rule);
    }
    check(
        "deny Read(secrets/**) / deny Edit(fixed/**)",
        "deny  | cat < secrets/a
         deny  | cd secrets && cat < a
         ask   | wc -l < f",
    );
    assert!(scene("").bash("wc -l < f").read_only);
}
