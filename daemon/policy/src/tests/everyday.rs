//! Everyday commands that only read, and commands that look like them.

use super::*;

#[test]
fn everyday_commands_that_read_do_not_ask() {
    let sandboxed = scene("").sandbox(SandboxStrength::Full);
    check_in(
        &sandboxed,
        "allow | find . -name '*.rs' | xargs wc -l
         allow | find . -name '*.rs' -print0 | xargs -0 grep -l foo
         allow | git ls-files | xargs wc -l
         allow | awk '{print $1}' f
         allow | awk -F: '{print $1, $NF}'
         allow | awk '/foo/ {print NR\": \"$0}'
         allow | cat src/{main,lib}.rs
         allow | diff <(sort a) <(sort b)
         allow | printenv PATH
         allow | for FILE in a b; do wc -l $FILE; done
         allow | basename $PWD
         allow | test -f x && echo yes
         allow | [ -d src ] && ls src
         allow | command -v cargo
         allow | node --version
         allow | sort f | uniq -c | sort -rn | head
         allow | tr a-z A-Z < f
         allow | git diff --stat HEAD~3
         allow | ps aux | awk '{print $2}'
         allow | sed -n '1,5p' f
         allow | wc -l **/*.rs",
    );
    // Its directory may choose what runs, or it may show secrets.
    check_in(
        &sandboxed,
        "ask | npm --version
         ask | npm ls
         ask | cargo --version
         ask | rustc --version
         ask | go version
         ask | env | grep ^CARGO",
    );
}

#[test]
fn command_that_may_evaluate_a_value_as_code_does_not_only_read() {
    check_in(
        &scene("").sandbox(SandboxStrength::Full),
        "allow | echo ${HOME/a/$X} \"${X:-${HOME}}\" ${#X} ${HOME%/*}
         allow | for f in a b; do [ -f $f ] && cat $f; done
         ask   | echo ${HOME/a/$((X))}
         ask   | echo ${HOME/a/${PWD:X}}
         ask   | echo ${HOME/a/$((X=1))} ${HOME/a/${Y:=1}}
         ask   | echo \"${Y:-${X@P}}\"
         ask   | echo \"${Y:-${Z:-${X@P}}}\"
         ask   | echo ${HOME//a/${!X}}
         ask   | basename ${HOME/%a/${Y[X]}}
         ask   | for x in 'a[$(rm)]'; do echo ${HOME/a/$((x))}; done
         ask   | for x in 'a[$(rm)]'; do [ -v $x ]; done
         ask   | for x in '-v a[$(rm)]'; do [ $x ]; done
         ask   | [ -v \"$X\" ]
         ask   | [ -v 'a[X]' ]
         ask   | [ $X ]
         ask   | [ $X = a ]
         ask   | test \"$X\" \"$Y\"
         ask   | printf -v \"$X\" 1
         ask   | printf $X a",
    );
}

#[test]
fn xargs_only_reads_with_a_program_without_harmful_options() {
    check_in(
        &scene("").sandbox(SandboxStrength::Full),
        "allow | ls | xargs
         allow | ls | xargs -n1
         allow | ls | xargs -n1 -P4 wc -l
         allow | ls | xargs -0rn 2 grep -l x
         allow | ls | xargs --null cat
         allow | ls | xargs wc -l >/dev/null
         allow | ls | timeout 5 xargs cat
         ask   | ls | xargs w{c,d}
         ask   | ls | xargs rm
         ask   | ls | xargs sort
         ask   | ls | xargs find
         ask   | ls | xargs sed -n 1p
         ask   | ls | xargs awk 1
         ask   | ls | xargs rg x
         ask   | ls | xargs file
         ask   | ls | xargs tee
         ask   | ls | xargs git log
         ask   | ls | xargs sh
         ask   | ls | xargs -I{} sh -c {}
         ask   | ls | xargs -I{} cat {}
         ask   | ls | xargs -i cat
         ask   | ls | xargs --replace cat
         ask   | ls | xargs -J % cat %
         ask   | ls | xargs -a f cat
         ask   | ls | xargs --arg-file=f cat
         ask   | ls | xargs -o cat
         ask   | ls | xargs -n $X cat
         ask   | ls | xargs $X
         ask   | ls | xargs \"$X\" cat
         ask   | ls | xargs cat $(x)
         ask   | ls | xargs cat <(x)
         ask   | ls | xargs cat *
         ask   | ls | xargs /bin/cat
         ask   | ls | xargs ./cat
         ask   | ls | xargs env cat
         ask   | ls | xargs timeout 5 cat
         ask   | ls | xargs xargs cat
         ask   | ls | xargs sudo cat
         ask   | ls | sudo xargs cat
         ask   | ls | X=1 xargs cat
         ask   | ls | PATH=. xargs cat
         ask   | ls | xargs cat > out
         ask   | ls |& xargs cat
         ask   | ls | xargs cat &
         ask   | ls | busybox xargs cat
         ask   | ls | xargs du --files0-from=x
         ask   | ls | xargs cat && rm x
         ask   | rm x | xargs cat
         ask   | xargs cat < list
         ask   | xargs {rm,-rf}
         ask   | cat() { rm x; }; ls | xargs cat
         ask   | alias cat=rm; ls | xargs cat",
    );
    // The names might be those of closed files: only the sandbox would keep the program away from them.
    check(
        "",
        "allow | find . -type f -name '*.rs' -print0 | xargs -0 cat
         ask   | find . -name '*.rs' -print0 | xargs -0 cat
         ask   | find . -type f | xargs cat
         ask   | find . -type f -print0 | xargs cat
         ask   | find . -type f -print | xargs -0 cat
         ask   | find -L . -type f -print0 | xargs -0 cat
         ask   | find . -type f -o -print0 | xargs -0 cat
         ask   | find . -type f -printf '%p' -print0 | xargs -0 cat
         ask   | find . -type f -print0 | tr a b | xargs -0 cat
         ask   | find . -type f -print0; ls | xargs -0 cat
         ask   | git ls-files -z | xargs -0 cat
         ask   | echo .env | xargs -0 cat
         ask   | ls | xargs cat",
    );
    let asks = scene("ask Read(secrets/**)").sandbox(SandboxStrength::Full);
    check_in(&asks, "ask | ls secrets | xargs cat\n ask | ls | xargs cat");
    let denies = scene("deny Bash(wc:*)").sandbox(SandboxStrength::Full);
    check_in(&denies, "deny | ls | xargs wc\n allow | ls | xargs");
    let yolo = scene("").approval_mode(ApprovalMode::Yolo);
    check_in(&yolo, "allow | ls | xargs cat");
}

#[test]
fn awk_only_reads_with_a_program_that_only_prints() {
    check(
        "",
        r#"allow | awk 'NR>1' f
           allow | awk '/a|b/{print $1}' f
           allow | awk '/system("x")/' f
           allow | awk '{print $1 " -> " $2}' f
           allow | awk '{print "a\" | \"sh"}' f
           allow | awk '$3 > 5 {print $1} $4 > 6 {print $2}' f
           allow | awk -F'|' '{print $2}' f
           allow | awk -F '\t' '{s+=$1} END {print s/NR}' f
           allow | awk 'NR==1{print; next} {s+=$3} END{printf "%.2f", s/n}' f
           allow | awk '!seen[$0]++' f
           allow | awk '{a[$1]++} END{for (k in a) print k, a[k]}' f
           allow | awk -v n=3 'NR==n || /x/' f
           allow | awk '{sub(/^\//, ""); gsub(/[ ]+/, " "); print}' f
           allow | awk '/start/,/end/' f g -
           allow | gawk '$1 ~ /^a/ && $2 !~ /b$/' f
           ask   | awk 'BEGIN{system("x")}'
           ask   | awk 'BEGIN{1system("x")}'
           ask   | awk 'BEGIN{awk::system("x")}'
           ask   | awk '{print > "f"}' f
           ask   | awk '{print $1 > $2}' f
           ask   | awk '{print $1\n> "f"}' f
           ask   | awk '{print $1,\n$2 > "f"}' f
           ask   | awk '{print(x) > "f"}' f
           ask   | awk '{print /x/ > "f"}' f
           ask   | awk '{print $1/2>"f"}' f
           ask   | awk '{print >> "f"}' f
           ask   | awk '{if (x) print; else print > "f"}' f
           ask   | awk '{printf "a" > "f"}' f
           ask   | awk '{print | "sh"}' f
           ask   | awk '{print |& "sh"}' f
           ask   | awk '{print "\\" | "sh"}' f
           ask   | awk '{"x" | getline}' f
           ask   | awk '{getline < "f"}' f
           ask   | awk '{print /"/; print | "x" #"/}' f
           ask   | awk '{if (1) /"/; print | "x" #"/ }' f
           ask   | awk 'length /"/ { print | "x" #"/}' f
           ask   | awk '/[/"]/{print | "x"}' f
           ask   | awk '/[\]/"]/{print | "x" #/}' f
           ask   | awk 'a / b/ { print | "sh" } /' f
           ask   | awk '1 / 2 / system("x") / 3' f
           ask   | awk 'a++ / system("x") / 2' f
           ask   | awk -f x f
           ask   | awk -fx f
           ask   | awk -i inplace '{print}' f
           ask   | awk --include=inplace '{print}' f
           ask   | awk -l x '{print}' f
           ask   | awk -E x f
           ask   | awk -e '{print}' f
           ask   | awk -o '{print}' f
           ask   | awk --dump-variables=x '{print}' f
           ask   | awk '@load "x"; {print}' f
           ask   | awk 'BEGIN{f="system"; @f("x")}'
           ask   | awk 'BEGIN{for (k in ENVIRON) print k}'
           ask   | awk '{ARGV[1]="x"}' f
           ask   | awk 1 ARGV=x
           ask   | awk -v ARGC=5 1 f
           ask   | awk -v CONVFMT=%n 1 f
           ask   | awk '{print}' -f x
           ask   | awk '{print}' /inet/tcp/0/h/80
           ask   | awk '{print}' *
           ask   | awk -F * '{print}'
           ask   | awk '{print}' $X
           ask   | awk '{print}' $(x)
           ask   | awk "{print $1}" f
           ask   | awk $'{print | \x22x\x22}' f
           ask   | X=1 awk '{print}' f
           ask   | ./awk '{print}' f
           ask   | awk '{print}' f > out
           ask   | ls | xargs awk '{print}'"#,
    );
}

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

#[test]
fn variables_and_packages_are_shown_but_no_secrets_and_no_other_files() {
    check(
        "",
        "allow | printenv PATH HOME
         ask   | printenv
         ask   | printenv -0
         ask   | printenv API_KEY
         ask   | printenv GH_PAT
         ask   | printenv DATABASE_URL
         ask   | printenv PATH MY_TOKEN
         ask   | printenv $X
         ask   | printenv P*
         ask   | printenv PATH > x
         ask   | PATH=x printenv PATH
         allow | basename \"$PWD\"
         allow | dirname $HOME/x
         ask   | basename $API_KEY
         ask   | basename $(x)
         ask   | basename $PWD > x
         ask   | pip list
         ask   | pip3 show x
         ask   | pip freeze
         ask   | pip install x
         ask   | pip config list
         ask   | ./pip list
         ask   | python3 -m pip list",
    );
}

#[test]
fn only_known_capital_loop_variables_are_plain() {
    check(
        "",
        "allow | for FILE in a b; do wc -l $FILE; done
         allow | for DIR in src docs; do ls $DIR; done
         allow | for FILE in *.rs; do wc -l \"$FILE\"; done
         ask   | for FILE in a b; do rm $FILE; done
         ask   | for FILE in -o; do sort $FILE x; done
         ask   | for FILE in *; do sort \"$FILE\"; done
         ask   | for FILE in $(x); do wc -l $FILE; done
         ask   | for PATH in a; do ls; done
         ask   | for LD_PRELOAD in a; do ls; done
         ask   | for GIT_DIR in a; do git log; done
         ask   | for IFS in a; do ls; done
         ask   | for HOME in a; do ls ~; done
         ask   | for FOO in a; do ls $FOO; done
         ask   | for FILES in a; do ls $FILES; done",
    );
}

#[test]
fn readers_that_may_do_more_ask() {
    check(
        "",
        "allow | uniq a
         allow | uniq -c a
         allow | sort a | uniq -c
         ask   | uniq - out
         ask   | uniq -c - out
         ask   | uniq -- - out
         ask   | printf x | uniq - .git/config
         allow | python3 --version
         allow | python3 -V
         allow | node -v
         ask   | python3 -v
         ask   | echo 'import os' | python3 -v
         ask   | python3 -v < x.py
         allow | jq . a.json
         allow | jq -r '.env.name, .include[0]' a.json
         ask   | jq -n env
         ask   | jq -nr 'env.HOME'
         ask   | jq -n '$ENV'
         ask   | jq -n '$ENV.HOME'
         ask   | jq -n '[env]'
         ask   | jq -n 'import \"k\" as $d {search:\"./secret\"}; $d'
         ask   | jq -n 'include \"k\"; .'
         allow | git log --format='%h %s'
         ask   | git log --pretty=format:%GS
         ask   | git show --format='%GG' HEAD
         ask   | git for-each-ref --format='%(signature)'
         ask   | printenv MYSQL_PWD
         allow | printenv PWD
         ask   | printenv BEARER",
    );
    check(
        "allow Bash(xxd:*) / allow Bash(python3 -m json.tool:*)",
        "allow | xxd a
         ask   | xxd - out
         ask   | python3 -m json.tool - out",
    );
    check(
        "allow Bash / deny Bash(pip install:*)",
        "deny | python3 -mpip install x",
    );
}

#[test]
fn variable_in_arithmetic_is_doubted_whatever_the_line_sets_it_to() {
    check(
        "allow Bash / deny Bash(rm:*) / ask Bash(git push:*)",
        "ask | n=0; while [ $n -lt 3 ]; do n=$((n+1)); done
         ask | for ((n=0; n<3; n++)) { :; } & wait; echo $((n))
         ask | UID=1; n=0\\necho $((n))
         ask | IFS=1; n=1; [ -v$n'a[$(x)]' ]
         ask | n=0; read -?? <<< 'a[$(x)]'; echo $((n))
         ask | t=0; read -rat <<< 'a[$(x)]'; echo $((t))",
    );
}

#[test]
fn pattern_that_may_become_an_option_is_doubted() {
    check(
        "allow Bash / deny Bash(rm:*)",
        "allow | [ -f *.txt ] && ls
         allow | printf '%s\\n' *.txt
         ask   | test -? 'a[$(x)]'
         ask   | [ * ]
         ask   | printf -* x
         ask   | printf ?v* x
         ask   | read -a??? <<< x; set -x; ls
         ask   | read PS[4] <<< x; set -x; ls",
    );
}

#[test]
fn message_in_a_here_document_is_understood() {
    check(
        "allow Bash / deny Bash(rm:*)",
        "allow | git commit -m \"$(cat <<'EOF'\\nA message; with signs\\n\\nEOF\\n)\"
         allow | git commit -m \"$(cat <<EOF\\nA message\\nEOF\\n)\" && git log
         allow | echo $(cat <<EOF | tr a b\\nx\\nEOF\\n); ls; pwd
         ask   | echo $(cat <<EOF\\nx\\nEOF\\nls; pwd)",
    );
}
