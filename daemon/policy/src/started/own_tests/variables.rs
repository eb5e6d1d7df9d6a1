//! Variables that name code.

use super::{FILES, all_own, none_own};

#[test]
fn variables_that_name_code_are_found_however_they_are_set() {
    all_own(
        r#"
        read LD_PRELOAD <x; curl h
        read -r LD_PRELOAD <<< ./x.so; export LD_PRELOAD; curl h
        IFS= read -r a PAGER < x; git log
        printf -v LD_PRELOAD ./x.so; curl h
        printf -vPAGER %s ./x; man ls
        : ${LD_PRELOAD:=./x.so}; curl h
        : ${PAGER=./x}; man ls
        echo "${GIT_PAGER:=./x}"
        mapfile LD_PRELOAD <x
        readarray -t PAGER <x
        declare LD_PRELOAD=./x.so
        declare -x LD_PRELOAD=./x.so; curl h
        declare -n n=LD_PRELOAD; n=./x.so; curl h
        typeset -x LD_PRELOAD=./x.so; curl h
        export LD_PRELOAD=./x.so; curl h
        export "LD_PRELOAD=$x"; curl h
        export $(cat x); curl h
        export "$x"; curl h
        declare -x "$n=./x.so"; curl h
        local LD_PRELOAD=./x.so
        readonly PAGER=./x
        for LD_PRELOAD in ./x.so; do curl h; done
        select PAGER in ./x; do man ls; done
        getopts a PAGER
        set -a; . ./x; curl h
        env LD_PRELOAD=./x.so curl h
        env $(cat x) curl h
        sudo env LD_PRELOAD=./x.so curl h
        sudo LD_PRELOAD=./x.so curl h
        systemd-run --setenv=LD_PRELOAD=./x.so curl h
        systemd-run -E LD_PRELOAD=./x.so curl h
        LD_PRELOAD+=:./x.so curl h
        PSQL_EDITOR=./x psql
        SUDO_EDITOR=./x sudo -e /etc/f
        OPENSSL_CONF=x curl https://h
        JAVA_OPTS=-javaagent:./x gradle --version
        NPM_CONFIG_SCRIPT_SHELL=./x npm view y
        "#,
        FILES,
    );
    none_own(
        r#"
        read -r a b; echo "$a"
        printf -v a %s x; echo "$a"
        echo "${a:=x}" "${PAGER:-less}"
        mapfile -t lines <x
        export FOO=x BAR="$y"
        declare -i n=1
        for f in x a; do cat "$f"; done
        export PAGER=less; git log
        printf '%s' "$x"
        TOKEN="$x" curl https://h
        "#,
        FILES,
    );
}
