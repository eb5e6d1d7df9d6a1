//! Statements and words in which a shell may evaluate a value as code.

use super::Lines;

impl Lines {
    /// A builtin that is given the name of a variable, which may have an index.
    pub(super) fn naming(&mut self) -> String {
        let name = self.pick(&[
            "$t",
            "\"$t\"",
            "'a[$(rm)]'",
            "'a[t]'",
            "a[0]",
            "v",
            "${t}",
            "$o",
            "\"${t}=1\"",
            "$(b)",
            "\"x$t\"",
            "v=$t",
            "n=v",
            "'a[1]'",
        ]);
        let sign = self.pick(&[
            "-v",
            "-n",
            "-z",
            "-f",
            "$o",
            "\"$v\"",
            "!",
            "-R",
            "\"${o% *}\"",
            "{-v,$t}",
        ]);
        match self.below(21) {
            0 => format!("[ {sign} {name} ]"),
            1 => format!("test {sign} {name}"),
            2 => format!(
                "[ {name} {} {name} ]",
                self.pick(&["=", "-eq", "-o", "\"$v\""])
            ),
            3 => format!("[[ {sign} {name} ]]", sign = self.pick(&["-v", "-n", "!"])),
            4 => format!(
                "printf {} {name} {}",
                self.pick(&["-v", "x", "%s", "$o", "--"]),
                self.word()
            ),
            5 => format!(
                "read {} {name} <<< 1",
                self.pick(&["-r", "-a", "-n 1", "-p"])
            ),
            6 => format!(
                "declare {} {name}; a $v",
                self.pick(&["", "-x", "-a", "-g"])
            ),
            7 => format!(
                "declare {} v={name}; a $v",
                self.pick(&["-n", "-i", "-x", "-a"])
            ),
            8 => format!("declare -i v; v={name}"),
            9 => format!("unset {name}"),
            10 => format!(
                "{} {name}",
                self.pick(&["export", "readonly", "let", "typeset"])
            ),
            11 => format!("l=([{name}]=1)"),
            12 => format!("getopts ab {name}"),
            13 => format!("mapfile {} {name} < f1", self.pick(&["-t", "", "-n 1"])),
            14 => format!("no & wait -n -p {name}"),
            15 => format!("l=(x y); a ${{l[{name}]}}"),
            17 => format!(
                "{}={name}",
                self.pick(&["RANDOM", "SECONDS", "OPTIND", "n"])
            ),
            18 => format!("declare {} l={name}", self.pick(&["-a", "-A", "+A", ""])),
            19 => format!("declare {} \"l=({name})\"", self.pick(&["-a", "-A", ""])),
            16 => format!("for n in {name} {name}; do [ -v $n ]; printf -v $n 1; done"),
            _ => format!("a[{name}]=1"),
        }
    }

    /// Statements that set a variable to numbers or to code, and others that evaluate it.
    pub(in crate::tests) fn counting(&mut self) -> String {
        let first = self.pick(&[
            "t=0",
            "t=0",
            "for t in 1 2; do :; done",
            "a",
            "t=1 a",
            "a t=1",
            "t=$((t+1))",
            "t+=5",
            "t=$o",
            "for ((t=0; t<2; t++)); do a; done",
        ]);
        let mut text = first.to_owned();
        for _ in 0..=self.below(4) {
            let sign = self.pick(&[
                "; ", "; ", "\n", " && ", " || ", " & ", " | ", "\\\n", " # ",
            ]);
            let next = match self.below(3) {
                0 => self.setting(),
                _ => self.pick(&[
                    "a $((t))",
                    "a $(( $t + 1 ))",
                    "[ $t -gt 1 ]",
                    "[[ $t -gt 2 ]]",
                    "((t > 0))",
                    "for ((t=0; t<2; t++)); do a; done",
                    "for i in {1..2}; do a $((t*i)); done",
                    "(t=6; a $((t)))",
                    "(t=$o; a $((t)))",
                    "a \"$(t=x; a $((t)))\"",
                    "{ t=1; a $((t)); }",
                    "f() { a $((t)); }; f",
                    "a <((t=o;a $((t))))",
                ]),
            };
            text = format!("{text}{sign}{next}");
        }
        text
    }

    /// Sets a variable, in a way that counts or not.
    fn setting(&mut self) -> &'static str {
        self.pick(&[
            "t=5",
            "t+=5",
            "t=$((t+1))",
            "t=$((1)) a",
            "((t=5))",
            "((t++))",
            "t='a[$(rm)]'",
            "t+='a[$(rm)]'",
            "t=5'a[$(rm)]'",
            "t=\\\n'a[$(rm)]'",
            "read t <<< 'a[$(rm)]'",
            "read -rat <<< 'a[$(rm)]'",
            "printf -vt %s 'a[$(rm)]'",
            "read \"t\" <<< 'a[$(rm)]'",
            "builtin read t'' <<< 'a[$(rm)]'",
            "command -p read $'\\x74' <<< 'a[$(rm)]'",
            "\\read {t,i} <<< 'a[$(rm)]'",
            "printf -v t'' %s 'a[$(rm)]'",
            "printf -v{t,i} %s 'a[$(rm)]'",
            "declare t''='a[$(rm)]'",
            "export $'\\x74=a[$(rm)]'",
            "for t in 'a[$(rm)]'; do :; done",
            "eval \"$'\\x74=\\\\\\'a[$(rm)]\\\\\\''\"",
            "eval t=\"'a[\\$(rm)]'\"",
            "unset t",
            "declare -n i=t; i='a[$(rm)]'",
        ])
    }

    /// `${…}` with something in it that may be evaluated.
    pub(super) fn expansion(&mut self) -> String {
        self.depth += 1;
        let inner = match self.below(4) {
            0 if self.depth < 3 => self.expansion(),
            _ => self
                .pick(&[
                    "$((t))", "$((1))", "${t@P}", "${v:t}", "${!t}", "${q:=1}", "$((t=1))",
                    "${l[t]}", "${l[$t]}", "$t", "x", "$(b)", "${#t}", "${t}", "\"$t\"", "\"x\"",
                ])
                .to_owned(),
        };
        self.depth -= 1;
        let operator = self.pick(&[
            ":-", ":+", "-", "+", "/w/", "//w/", "%", "##", "^^", ",,", "@", ":", "[", ":=", "/%w/",
        ]);
        let text = format!(
            "${{{}{operator}{inner}}}",
            self.pick(&["v", "z", "t", "1", "l[0]"])
        );
        match self.below(2) {
            0 => format!("\"{text}\""),
            _ => text,
        }
    }
}
