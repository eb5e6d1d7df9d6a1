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
