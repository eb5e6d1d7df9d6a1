//! Everyday commands that only read, and commands that look like them.

use super::*;

#[test]
fn list_in_braces_stands_for_its_words() {
    check(
        "allow Bash(touch:*)",
        "allow | cat {a,b}
         allow | cat x{,.bak}
         allow | wc -l src/{a,b}/*.rs
         allow | git {log,-p}
         ask   | touch x{1,2}
         ask   | touch {x,../y}
         ask   | touch {-r,/etc/x,y}
         ask   | {rm,-rf,x}
         ask   | {cat,a}
         ask   | sudo {rm,-rf,x}
         ask   | env {PATH,B}=x cat f
         ask   | find . {-name,x,-delete}
         ask   | find . {-nam,-delet}e
         ask   | sort {-o,x} f
         ask   | sort -{n,ofile} f
         ask   | git {push,x}
         ask   | git diff --{stat,output=x}
         ask   | git {-c,core.pager=x} log
         ask   | sed {-i,1p} f
         ask   | date {-s,x}
         ask   | sort {*,a}
         ask   | cat {a..c}
         ask   | cat {a,{b,c}}
         ask   | cat {,a}
         ask   | cat {'a',b}
         ask   | cat {$x,b}
         ask   | cat {$(x),b}
         ask   | cat {a,b}$(x)
         ask   | cat > {a,b}
         ask   | cat < {a,b}
         ask   | sh -c 'cat {a,b}'
         ask   | ls | xargs {rm,-rf}",
    );
    check(
        "allow Bash / deny Bash(rm -rf*) / deny Bash(git push:*)",
        "deny  | sudo {rm,-rf,x}
         deny  | rm {-rf,x}
         deny  | rm -{r,f} x
         deny  | git {push,origin}
         allow | rm {a,b}
         ask   | rm {$x,b}
         ask   | rm {[-]rf,x}",
    );
    let home = |path: &mut ResolvedPath| path.denied = path.text == "a/.env";
    let decision = scene("").call_with("bash", json!({ "command": "cat a/{x,.env}" }), home);
    assert_eq!(decision.verdict, Verdict::Ask);
}

#[test]
fn output_of_reading_commands_may_be_a_file_of_a_reading_command() {
    check(
        "allow Bash(rm:*) / allow Bash(tee:*)",
        "allow | comm -12 <(sort a | uniq) <(git ls-files)
         allow | cat <(cat <(cat a))
         allow | grep -f <(sort a) b
         allow | cat '<(rm x)'
         ask   | diff <(sort a) <(rm b)
         ask   | diff <(sort a) <(sort b > x)
         ask   | diff <(sort a) >(tee b)
         ask   | diff <(sort a) >(cat)
         ask   | cat a > >(cat)
         ask   | cat <(cat <(rm a))
         ask   | cat <(awk '{print > \"x\"}' a)
         ask   | cat <(X=1 sort a)
         ask   | cat <(sort a &)
         ask   | cat <(wc() { rm x; }; wc)
         ask   | cat <($X)
         ask   | cat <(sort a)$(x)
         ask   | cat <(sort a)$X
         ask   | cat <(sort a)x
         ask   | sort -o <(sort a)
         ask   | sort <(sort a) -o b
         ask   | uniq <(sort a) <(sort b)
         ask   | tee <(sort a)
         ask   | sh <(cat a)
         ask   | source <(cat a)
         ask   | python3 <(cat a)
         ask   | awk -f <(cat a)
         ask   | sed -f <(cat a) b
         ask   | sed <(cat a) b
         ask   | git apply <(cat a)
         ask   | xargs wc <(cat a)
         ask   | sh -c 'cat <(sort a)'",
    );
    check(
        "deny Bash(rm:*)",
        "deny | cat <(rm x)\n deny | cat <(cat <(rm x))\n allow | cat <(sort a)",
    );
    let closed = |path: &mut ResolvedPath| path.denied = path.text == ".env";
    let decision = scene("").call_with("bash", json!({ "command": "cat <(sort .env)" }), closed);
    assert_eq!(decision.verdict, Verdict::Ask);
}
