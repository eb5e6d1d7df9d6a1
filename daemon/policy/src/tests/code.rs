//! Deny rules and code that other programs than a shell are given.

use super::*;

#[test]
fn deny_rule_holds_for_quoted_code_in_an_option() {
    check(
        "allow Bash / deny Bash(rm -rf*)",
        r#"deny  | tar --to-command='r"m" -rf y' -xf a
         deny  | tar -I 'r"m" -rf y' -xf a
         deny  | ssh -o ProxyCommand='r"m" -rf y' h
         deny  | git -c alias.x='!r"m" -rf y' x
         deny  | man --pager='r"m" -rf y' x
         deny  | split --filter='r"m" -rf y' x
         deny  | rsync --rsh="r'm' -rf y" a b
         deny  | find . -exec sh -c 'r"m" -rf y' x
         allow | tar --to-command='wc -l' -xf a
         allow | man --pager=cat x"#,
    );
}

#[test]
fn deny_rule_asks_about_code_of_other_languages_that_may_run_programs() {
    let lines = r#"
        ask   | awk 'BEGIN{system("r" "m -rf y")}'
        ask   | gawk -e 'BEGIN{system("r" "m -rf y")}'
        ask   | awk -- 'BEGIN{system("r" "m -rf y")}'
        ask   | awk '{print | "r" "m -rf y"}' f
        ask   | awk '{"r" "m -rf y" | getline}' f
        ask   | awk 'BEGIN{f="sys" "tem"; @f("x")}'
        ask   | awk 'function f(){return /"/}; BEGIN{print | "x"}'
        ask   | awk 'BEGIN{if (1) /"/; print | "x"}'
        ask   | awk '/[/"]/{print | "x"}' f
        ask   | awk 'BEGIN{# "\n print | "x"}'
        ask   | awk -f - f
        ask   | awk -f /dev/stdin f
        ask   | awk -f- f
        ask   | sed e
        ask   | echo cm0= | base64 -d | sed e
        ask   | sed -n '1e x' f
        ask   | sed -e 's/a/b/e' f
        ask   | sed -ne 's/a/b/e' f
        ask   | sed --expression='s/a/b/e' f
        ask   | sed -i 's/a/b/e' f
        ask   | sed -f - f
        ask   | make --eval='a:;r"m" -rf y' a
        ask   | make --ev='a:;x' a
        ask   | make -E 'a:;x' a
        ask   | make -f - a
        ask   | make -f- a
        ask   | make --file=/dev/stdin a
        ask   | timeout 5 awk 'BEGIN{system("x")}'
        allow | awk '{print $1}' f
        allow | awk -F'|' '{print $2}' f
        allow | awk '/a|b/{print $1}' f
        allow | awk 'NR > 1 && $2 / 2 > 3' f
        allow | awk '{print > "out"}' f
        allow | awk -f x.awk f
        allow | awk '{print}' -
        allow | sed -i 's/a|b/c/g' f
        allow | sed -n '1,5p' -
        allow | sed ':a;N;$!ba;s/x/ /g' f
        allow | sed -f x.sed f
        allow | make test
        allow | make -f Makefile.ci -j4"#;
    check(
        "allow Bash / deny Bash(rm -rf*)",
        &lines.replace("        ask ", "ask "),
    );
    let yolo = scene("deny Bash(rm -rf*)").approval_mode(ApprovalMode::Yolo);
    assert_eq!(yolo.bash("sed e").verdict, Verdict::Ask);
    // No rule is to be checked.
    check("allow Bash", "allow | awk 'BEGIN{system(\"x\")}'");
}

#[test]
fn deny_rule_holds_behind_further_launchers() {
    check(
        "allow Bash / deny Bash(rm -rf*)",
        "deny  | eatmydata rm -rf y
         deny  | eatmydata -- r'm' -rf y
         deny  | chpst -u a -n 5 rm -rf y
         deny  | chpst -ua -v rm -rf y
         deny  | s6-setuidgid a rm -rf y
         deny  | setuidgid a rm -rf y
         deny  | envdir d rm -rf y
         deny  | sem rm -rf y
         deny  | sem -j2 'rm -rf y'
         ask   | chpst -Z rm
         allow | eatmydata make
         ask   | sem make",
    );
    check("allow Bash(eatmydata:*)", "ask | eatmydata make");
}

#[test]
fn deny_rule_asks_about_commands_that_a_program_reads_from_its_input() {
    check(
        "allow Bash / deny Bash(rm -rf*)",
        "ask   | sudo -s <<< x
         deny  | sudo -s <<'E'\\nrm -rf build\\nE
         ask   | echo x | sudo -i
         ask   | echo x | sudo -u bob --login
         ask   | doas -s
         ask   | echo x | chroot /
         ask   | echo x | ssh host
         ask   | ssh -p 22 host < f
         deny  | docker exec -i c sh <<'E'\\nrm -rf build\\nE
         ask   | echo x | docker run -i alpine sh
         ask   | timeout 5 docker exec -i c sh < f
         ask   | echo x | timeout 5 kubectl exec -i p -- sh
         ask   | /lib64/ld-linux-x86-64.so.2 /bin/sh < f
         deny  | /lib64/ld-linux-x86-64.so.2 --argv0 x /bin/rm -rf build
         ask   | echo x | at now
         ask   | batch < f
         ask   | crontab -
         ask   | crontab f
         ask   | echo x | yash
         ask   | nc -l 1 -e sh
         ask   | ncat --sh-exec x h 1
         ask   | socat - EXEC:sh
         ask   | socat - system:x
         ask   | sqlite3 x.db '.shell x'
         ask   | sqlite3 x.db < f
         ask   | echo x | m4
         ask   | ed f <<< '!x'
         ask   | psql <<< x
         allow | sudo tee f <<< x
         allow | ssh host ls
         allow | crontab -l
         allow | nc -z h 1
         allow | sqlite3 x.db 'select 1'
         allow | docker ps | head
         allow | docker exec c ls
         allow | echo x | docker-credential-helper
         ask   | echo x | { sqlite3 x.db; }
         ask   | { docker exec -i c sh; } < f
         ask   | f() { sqlite3 x.db; }; f <<< '.shell x'
         ask   | exec < f; docker exec -i c sh
         ask   | ls | xargs -I{} sh -c 'cat f | sqlite3 x.db'
         ask   | xargs -a list sqlite3 x.db < f
         ask   | printf x > >(sqlite3 x.db)
         ask   | exec <> f; docker exec -i c sh
         ask   | for i in 1 2; do sqlite3 x.db; exec < f; done
         ask   | setpriv bash -c \"$(cat f)\"
         ask   | echo x | setpriv sh
         ask   | echo x | fakeroot
         ask   | python3 /dev/stdin < f
         ask   | python3 -i x.py < f
         ask   | python3 -m code < f
         ask   | python3 -m timeit 'x'
         ask   | sqlite3 x.db -init f
         ask   | sqlite3 x.db \"select edit('a','b')\"
         ask   | read -r BASH_ENV <<< f; export BASH_ENV; bash x.sh
         ask   | read PATH <<< x
         allow | a; docker ps
         allow | cd src && docker ps -a
         allow | docker build -t x . && docker run x
         allow | for n in a b; do kubectl get pods -n $n; done
         allow | if [ -f a ]; then docker ps; fi
         allow | cd db && sqlite3 a.db 'select 1'
         allow | cd db && psql -f a.sql
         allow | bun install && bun test
         allow | docker ps -q | xargs docker stop
         allow | docker load < a.tar
         allow | cat k.yaml | kubectl apply -f -
         allow | ssh -V
         allow | ssh -N -L 8080:localhost:80 h
         allow | sqlite3 a.db .tables
         allow | sqlite3 a.db '.mode csv' 'select 1'
         allow | sqlite3 a.db \"select * from t where id=$id\"",
    );
}

#[test]
fn deny_rule_does_not_hold_for_commands_that_only_show_something_about_its_program() {
    check(
        "allow Bash / deny Bash(rm:*)",
        "allow | man rm
         allow | man 1 rm
         allow | info rm
         allow | less rm
         allow | command -v rm
         allow | command -V rm
         allow | alias rm
         deny  | man -P 'rm -rf x' ls
         deny  | command -p rm x
         deny  | command rm x
         deny  | alias rm=x
         deny  | less '+!rm x' f",
    );
}
