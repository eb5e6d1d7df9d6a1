use super::*;

#[test]
fn variables_that_only_hold_numbers_are_found() {
    for (text, names) in [
        ("n=0; while [ $n -lt 3 ]; do n=$((n+1)); done", &["n"][..]),
        ("n=0\nwhile ((n<3)); do ((n++)); done", &["n"]),
        ("for ((i = 0; i < 3; i++)); do echo $i; done", &["i"]),
        ("for((i=0; i<3; i++)); do echo ${i}; done", &["i"]),
        ("for i in 1 2 3; do echo $((i*2)); done", &["i"]),
        ("for i in {1..30}; do echo $((i*2)); done", &["i"]),
        ("a=1; b=2; echo $((a+b))", &["a", "b"]),
        ("for i in 1 2; do a | b; done; echo $((i)) && c", &["i"]),
        ("set -e\nn=0; n+=5; echo \"$((n))\"", &["n"]),
    ] {
        assert_eq!(counters(text), names, "{text}");
    }
}

#[test]
fn variable_that_may_hold_anything_else_is_no_counter() {
    for text in [
        // From the environment, or set to something else.
        "echo $((n))",
        "echo $((n)); n=3",
        "false && n=3; echo $((n))",
        "if x; then n=3; fi; echo $((n))",
        "n=3 true; echo $((n))",
        "echo n=3; echo $((n))",
        "echo \\\nn=3; echo $((n))",
        "n=3 & echo $((n))",
        "n=3 && x & echo $((n))",
        "n=3 | x; echo $((n))",
        "n+=3; echo $((n))",
        "n=$((n+1)); echo $((n))",
        "for n in 1 2; do x; done & echo $((n))",
        "for n in 1 2; do x; done || y & echo $((n))",
        "for ((n=0; n<3; n++)); do x; done | y; echo $((n))",
        "(n=3); echo $((n))",
        "f() { n=3; }; echo $((n))",
        "echo '\nn=3;'; echo $((n))",
        "n=3; n=$x; echo $((n))",
        "n=3; n=x; echo $((n))",
        "n=3; n=3x; echo $((n))",
        "n=3; n=3\"$x\"; echo $((n))",
        "n=3; n=3\\\nx; echo $((n))",
        "n=3; n+=x; echo $((n))",
        "n=3; n[0]=x; echo $((n))",
        "n=3; n=$(x); echo $((n))",
        "n=3; read n; echo $((n))",
        "n=3; read \"n\"; echo $((n))",
        "n=3; declare n=x; echo $((n))",
        "n=3; printf -v n x; echo $((n))",
        "n=3; x=n; read $x; echo $((n))",
        "n=3; for n in a b; do echo $((n)); done",
        "n=3; for n in $x; do echo $((n)); done",
        "n=3; select n in a; do echo $((n)); done",
        "n=3; echo ${n:=x} $((n))",
        "n=3; coproc n { x; }; echo $((n))",
        "n=3; co\\\nun=4; n=3; (n=x; echo $((n)))",
        "n=3; cat <((n=x; echo $((n))))",
        "n=3; ((n=x); echo $((n)))",
        "co=3; c\\\no=x; echo $((co))",
        // Shells set these themselves.
        "_=3; echo $((_))",
        "PWD=3; cd 'a[$(x)]'; echo $((PWD))",
        "OPTARG=3; getopts a: v; echo $((OPTARG))",
        "REPLY=3; read; echo $((REPLY))",
    ] {
        assert!(
            !counters(text)
                .iter()
                .any(|name| ["n", "co", "_"].contains(name)),
            "{text}"
        );
    }
}
