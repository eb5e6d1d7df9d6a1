//! Random lines with all constructs of the shell, hostile quoting, and small damage. Equal seeds give equal lines.

mod evaluating;
mod here_documents;

/// Lines that were once read differently from a shell.
pub(in crate::tests) const FOUND: &[&str] = &[
    "a \\ b",
    "a <<EOF\nEOFX\nEOF\nrm x",
    "a x > f1 b c",
    "a <<E | rm x\n\\b\nE",
    "a <<'E' && rm x\n\\b\nE",
    "a <<-E || b || rm x\n\\b\nE",
    "a ${l[0]-$((t))}",
    "a x {\\\nfd}>o2 y",
    "a > ./-v; test -? 'a[$(rm)]'",
    "a > '-va[$(rm)]'; printf -* x",
    "a x \\\\\n2>o2 y",
    "a &\\\n> o2 y",
    "a $(l=(q\\&x 'b\nrm\nb'))",
    "a $(declare l=(q\\&x 'b\nrm\nb'))",
    "a $(declare 'l=(q\\&x)' 'b\nrm\nb')",
    "a \"$(l+=(q\\;x \"b\nrm\nb\"))\"",
    "a &\\\n\\\n>o2 y",
    "a x 2\\\n2>o2 y",
    "a $(b <<E\nx\nE\nrm; x1)",
    "a <(b <<E\nx\nE\n(rm; x1))",
    "a $(b <<E && rm; x1\nx\nE\n)",
    "a \"$(b <<E\nx\nE\ncase 1 in *) rm; x1;; esac)\"",
    "$\\\n'rm'",
    "a `b \\\\\\\n\nrm`",
    "$\\\n\\\n'rm'",
    "a $(\\\n(t))",
    "v\\\n=w rm x",
    "v\\\nw=w rm x",
    "v+\\\n=w rm x",
    "a $\\\n{t}",
    "(\\\n(t))",
    "a \"$\\\n(rm)\"",
    "a $\\\n[t]",
    "\"$\\\n{t@P}\"",
    "a $\\\n@",
    "\\\nv\\\n=w rm x",
    "wh\\\nile a; do rm; no; done",
    "a >& -b c",
    "a ${v/w/$((t))}",
    "a \"${z:-${t@P}}\"",
    "a ${v/w/${v:t}}",
    "[ -v \"$t\" ]",
    "[ $o ]",
    "test \"${o% *}\" \"$t\"",
    "for n in 'a[$(rm)]'; do [ -v $n ]; done",
    "[ -v 'a[t]' ]",
    "printf -v \"$t\" 1",
    "read -r \"$t\" <<< 1",
    "declare \"$t=1\"",
    "declare -n v=$t; a $v",
    "declare -i v; v=$t",
    "no & wait -n -p \"$t\"",
    "l=([$t]=1)",
    "unset \"$t\"",
    "mapfile \"$t\" < f1",
    "test {-v,'a[$(rm)]'}",
    "printf {-v,'a[$(rm)]'} x",
    "for n in 'a[$(rm)]'; do test {-v,$n}; done",
    "declare -a 'l=($(rm))'",
    "declare -a l='($(rm))'",
    "n='($(rm))'; declare -a l=\"$n\"",
    "f() { a \"${@@P}\"; }; f '$(rm)'",
    "declare -a l='($(rm) \"=(\")'",
    "declare -a l=\\(\\$\\(rm\\)\\)",
    "command declare -a 'l=($(rm))'",
    "\\declare -a 'l=($(rm))'",
    "l=(); n='($(rm))'; declare l=\"$n\"",
    "RANDOM=$t",
    "for SECONDS in \"$t\"; do a; done",
    "export RANDOM=$t",
    "read RANDOM <<< \"$t\"",
    "declare +A l=([t]=1)",
    "declare -a -- l=([t]=1) -A",
    "l=([t]\\\n=1)",
    "printf -v PS4 %s '$(rm)'; set -x; a",
    "read -r PS4 <<< '$(rm)'; set -x; a",
    "read -raPS4 <<< '$(rm)'; set -x; a",
];

/// A small random generator: equal seeds give equal lines.
pub(in crate::tests) struct Lines {
    state: u64,
    depth: u32,
    /// No path may leave the directory, and no loop may run forever.
    quoted: bool,
}

impl Lines {
    pub(in crate::tests) fn new(seed: u64) -> Self {
        Self {
            state: seed
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(0x1234_5678_9ABC_DEF1),
            depth: 0,
            quoted: false,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub(in crate::tests) fn line(&mut self) -> String {
        let mut line = self.statements();
        // Every third line gets a little damage.
        if self.below(3) == 0 {
            line = self.damaged(&line);
        }
        line
    }

    fn damaged(&mut self, line: &str) -> String {
        const SIGNS: &[&str] = &[
            "'", "\"", "\\", "`", "$", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "#",
            "!", "=", "*", "\n", " ", "\t", "$(", "${", "$'", "<<", "((", "))", "[[", "]]", ";;",
            "\\\n", " # ", " ! ", "~", ",", " in ", " do ", "{ ", "; }", "$((", "<(", "1", "-",
            "@", "%", "^", "+=",
        ];
        let mut chars: Vec<String> = line.chars().map(String::from).collect();
        for _ in 0..=self.below(2) {
            let at = self.below(chars.len().max(1));
            match self.below(4) {
                3 => chars.insert(at, "\\\n".to_owned()),
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 if at < chars.len() => chars[at] = self.pick(SIGNS).to_owned(),
                _ => chars.insert(at.min(chars.len()), self.pick(SIGNS).to_owned()),
            }
        }
        chars.concat()
    }

    fn gap(&mut self) -> &'static str {
        self.pick(&[" ", " ", " ", "  ", "\t", " \\\n", "\\\n "])
    }

    fn maybe_gap(&mut self) -> &'static str {
        self.pick(&["", " ", " ", "\t"])
    }

    fn statements(&mut self) -> String {
        let mut text = self.statement();
        for _ in 0..self.below(3) {
            let sign = self.pick(&[
                ";", " && ", " || ", " | ", "\n", " & ", "&&", "|", "||", " |& ", "\n\n", " # c\n",
                "&",
            ]);
            let next = self.statement();
            // A here-document ends its line.
            text = if text.contains("<<E") || text.contains("<<-E") {
                format!("{text}\n{next}")
            } else {
                format!("{text}{sign}{next}")
            };
        }
        text
    }

    fn statement(&mut self) -> String {
        if self.depth > 3 {
            return self.simple();
        }
        self.depth += 1;
        let text = match self.below(38) {
            0 => format!("({}{})", self.maybe_gap(), self.statements()),
            1 => format!("{{ {}; }}", self.inner()),
            2 => format!("if {}; then {}; fi", self.inner(), self.inner()),
            3 => format!(
                "if {}\nthen {}\nelse {}\nfi",
                self.inner(),
                self.inner(),
                self.inner()
            ),
            4 => format!(
                "for v in {} {}; do {}; done",
                self.word(),
                self.word(),
                self.inner()
            ),
            5 => format!("while no; do {}; done", self.inner()),
            6 => format!("until a; do {}; done", self.inner()),
            7 => format!(
                "case {} in {}) {};; *) {};; esac",
                self.word(),
                self.word(),
                self.inner(),
                self.inner()
            ),
            8 => format!("f() {{ {}; }}; f {}", self.inner(), self.word()),
            9 => format!("! {}", self.simple()),
            10 => format!("{} {}", self.pick(&["time", "time -p"]), self.simple()),
            11 => self.heredoc(),
            12 => self.given(),
            13 => self.launched(),
            14 => format!(
                "[[ {} == {} ]] && {}",
                self.word(),
                self.word(),
                self.simple()
            ),
            15 => format!("[ {} = {} ] || {}", self.word(), self.word(), self.simple()),
            16 => format!(
                "(( 1 {} 2 )) && {}",
                self.pick(&["<", ">", "+", "&&"]),
                self.simple()
            ),
            17 => format!("v={} {}", self.word(), self.simple()),
            18 => format!("v={}; {} $v", self.word(), self.stub()),
            19 => format!(
                "l=({} {}); {} \"${{l[@]}}\"",
                self.word(),
                self.word(),
                self.stub()
            ),
            20 => format!(
                "{} {}",
                self.stub(),
                self.pick(&["<<< \"$(b)\"", "<<<x", "<<<'a b'", "< f1", "0<f1"])
            ),
            21 => format!("{} <({})", self.stub(), self.statements()),
            22 => format!("for ((i=0; i<2; i++)); do {}; done", self.inner()),
            23 => format!("function g {{ {}; }}\ng", self.inner()),
            24 => format!("trap {} EXIT", self.single(1)),
            25..=27 => self.naming(),
            _ => self.simple(),
        };
        self.depth -= 1;
        text
    }

    /// Statements that a `;` may follow.
    fn inner(&mut self) -> String {
        if self.below(3) == 0 {
            self.statements_plain()
        } else {
            self.simple()
        }
    }

    fn statements_plain(&mut self) -> String {
        let (first, sign, next) = (
            self.simple(),
            self.pick(&["; ", " && ", " || ", " | ", "\n"]),
            self.simple(),
        );
        format!("{first}{sign}{next}")
    }

    fn stub(&mut self) -> &'static str {
        self.pick(&[
            "a", "b", "rm", "git", "x1", "\\rm", "'rm'", "r\"m\"", "$'rm'", "g\\\nit",
        ])
    }

    fn simple(&mut self) -> String {
        let mut text = self.stub().to_owned();
        for _ in 0..self.below(4) {
            let gap = self.gap();
            text.push_str(gap);
            let word = if self.below(6) == 0 {
                self.redirection()
            } else {
                self.word()
            };
            text.push_str(&word);
        }
        text
    }

    fn redirection(&mut self) -> String {
        let target = self.pick(&["o1", "o2", "'o 3'", "\"o4\"", "o$v"]);
        match self.below(10) {
            0 => format!("> {target}"),
            1 => format!(">>{target}"),
            2 => format!("2>{target}"),
            3 => "2>&1".to_owned(),
            4 => format!("&> {target}"),
            5 => format!(">|{target}"),
            6 => "< f1".to_owned(),
            7 => ">&2".to_owned(),
            8 => format!("{{fd}}>{target}"),
            _ => "2>/dev/null".to_owned(),
        }
    }

    fn word(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(3) {
            text.push_str(&self.piece());
        }
        // No text that leaves the directory, or that stubs would take for their own.
        if text == ")" || text == "(" {
            "x".to_owned()
        } else {
            text
        }
    }

    fn piece(&mut self) -> String {
        if self.quoted || self.depth > 3 {
            return self.pick(&["x", "-rf", "y", "z=1", "1"]).to_owned();
        }
        match self.below(40) {
            0 => "'a b'".to_owned(),
            1 => "\"a b\"".to_owned(),
            2 => "''".to_owned(),
            3 => "\"\"".to_owned(),
            4 => self
                .pick(&[
                    "\\;", "\\&", "\\|", "\\ ", "\\\\", "\\'", "\\\"", "\\$", "\\`", "\\(", "\\#",
                    "\\\n",
                ])
                .to_owned(),
            5 => self
                .pick(&[
                    "$'a'", "$'\\x41'", "$'\\''", "$'a\\nb'", "$'\\101'", "$\"t\"", "$'\\\\'",
                ])
                .to_owned(),
            6 => format!("$({})", self.deeper()),
            7 => format!(
                "`{}`",
                self.deeper().replace('\\', "\\\\").replace('`', "\\`")
            ),
            8 => format!("\"$({})\"", self.deeper()),
            9 => format!("\"x `{}`\"", self.deeper().replace(['\\', '`', '"'], "")),
            10 => self
                .pick(&[
                    "$v", "${v}", "\"$v\"", "\"${v}\"", "$#", "$?", "${#v}", "$1", "\"$@\"",
                ])
                .to_owned(),
            11 => self
                .pick(&[
                    "${v:-x}",
                    "${v%w}",
                    "${v#w}",
                    "${v/w/x}",
                    "${v^}",
                    "${z:-$(b)}",
                    "${v:0:1}",
                    "${v//\\//_}",
                    "${z:-\"a b\"}",
                    "\"${z:-\\}}\"",
                ])
                .to_owned(),
            12 => self
                .pick(&["$((1+2))", "\"$((2*3))\"", "$(( (1) ))", "$((v))"])
                .to_owned(),
            13 => self
                .pick(&["{a,b}", "{1..3}", "{", "}", "{a}", "x{y,z}"])
                .to_owned(),
            14 => self
                .pick(&["*", "f?", "[f]1", "[", "]", "f[1-2]"])
                .to_owned(),
            15 => self
                .pick(&[
                    "#", "a#b", "!", "=", "-", "--", "~", "@", "%", "^", ":", ",", "+",
                ])
                .to_owned(),
            16 => self.pick(&["é", "日", "k=v", "-n", "--x=y"]).to_owned(),
            17 => self
                .pick(&[
                    "'a;b'", "'$(b)'", "'`b`'", "\"a;b\"", "\"a|b\"", "'a\nb'", "\"a\nb\"",
                    "\"#\"", "'\"'", "\"'\"",
                ])
                .to_owned(),
            18 => self
                .pick(&[
                    "\"\\\"\"",
                    "\"\\\\\"",
                    "\"\\$v\"",
                    "\"\\`\"",
                    "\"\\x\"",
                    "\"a\\\nb\"",
                ])
                .to_owned(),
            20 => self.expansion(),
            19 => self
                .pick(&[
                    "if", "do", "done", "then", "fi", "in", "esac", "function", "time", "coproc",
                    "select",
                ])
                .to_owned(),
            _ => self
                .pick(&["x", "y", "-rf", "zz", "1", "q", "z=1", "f1"])
                .to_owned(),
        }
    }

    fn deeper(&mut self) -> String {
        self.depth += 2;
        let text = self.statements();
        self.depth -= 2;
        text
    }

    fn heredoc(&mut self) -> String {
        let stub = self.pick(&["a", "b", "rm", "bash", "sh"]);
        let body = match self.below(8) {
            0 => "x y".to_owned(),
            1 => "$(b c)".to_owned(),
            2 => "`b c`".to_owned(),
            3 => "\\$(b)".to_owned(),
            4 => "'$(b)'".to_owned(),
            5 => "EX\n E\nb EE".to_owned(),
            6 => self.simple(),
            _ => "${v} $v \"".to_owned(),
        };
        match self.below(7) {
            0 => format!("{stub} {}<<E\n{body}\nE", self.pick(&["", "- "])),
            1 => format!("{stub} <<'E'\n{body}\nE"),
            2 => format!("{stub} <<\"E\"\n{body}\nE"),
            3 => format!("{stub} <<-E\n\t{body}\n\tE"),
            4 => format!("{stub} <<E && b z\n{body}\nE"),
            5 => format!("{stub} <<E | b z\n{body}\nE"),
            _ => format!("{stub} <<E > o5 x\n{body}\nE"),
        }
    }

    /// This many texts in single quotes.
    fn single(&mut self, times: usize) -> String {
        self.depth += 1;
        let mut text = self.statements();
        self.depth -= 1;
        for _ in 0..times {
            text = format!("'{}'", text.replace('\'', "'\\''"));
        }
        text
    }

    /// A line that is given to a program.
    fn given(&mut self) -> String {
        match self.below(7) {
            0 => format!("sh -c {}", self.single(1)),
            1 => format!("bash -c {}", self.single(1)),
            2 => format!("eval {}", self.single(1)),
            3 => format!("bash -ec {} x y", self.single(1)),
            4 => format!(
                "bash -c \"{}\"",
                self.simple().replace(['\\', '"', '`', '$'], "")
            ),
            5 => format!("eval {} {}", self.stub(), self.word()),
            _ => format!("bash -c {}", self.single(1)),
        }
    }

    fn launched(&mut self) -> String {
        let launcher = self.pick(&[
            "env",
            "env v=2",
            "env -i",
            "env -u v",
            "nice",
            "nice -n 3",
            "nice -5",
            "nohup",
            "setsid",
            "setsid -w",
            "stdbuf -oL",
            "timeout 5",
            "timeout -k 1 5",
            "timeout -s KILL 5",
            "command",
            "command --",
            "exec",
            "exec -a z",
            "builtin command",
            "env -S",
            "env env",
            "command env nice",
            "xargs",
            "xargs -n1",
            "time",
        ]);
        match self.below(5) {
            0 => format!(
                "find f1 -exec {} {{}} \\;",
                self.simple().replace('\n', " ")
            ),
            1 => format!("a | xargs {}", self.simple()),
            2 => format!("{launcher} {launcher} {}", self.simple()),
            _ => format!("{launcher} {}", self.simple()),
        }
    }
}
