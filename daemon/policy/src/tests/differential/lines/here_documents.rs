//! Here-documents whose first line goes on, with texts that begin like something else.

use super::Lines;

impl Lines {
    pub(in crate::tests) fn here_document(&mut self) -> String {
        let before = self.pick(&[
            "",
            "",
            "",
            "b; ",
            "b && ",
            "{ ",
            "( ",
            "if a; then ",
            "x=$( ",
            "a <( ",
            "! ",
            "v=w ",
        ]);
        let close = match before.trim() {
            "{" => "\n}",
            "(" | "x=$(" | "a <(" => "\n)",
            "if a; then" => "\nfi",
            _ => "",
        };
        let mark = self.pick(&[
            "<<E", "<<E", "<<'E'", "<<\"E\"", "<<-E", "<< E", "0<<E", "<<\\E", "<<-'E'",
        ]);
        let rest = self.pick(&[
            "",
            " x",
            " | rm x",
            " | b | rm x",
            "|rm x",
            " && rm x",
            "&&rm x",
            " || rm x",
            " || b || rm x",
            " && b | rm x",
            " ; rm x",
            " & rm x",
            " > f1",
            " > f1 | rm x",
            " 2>&1 | rm x",
            " x y | rm x",
            " && { rm x; }",
            " && (rm x)",
            " | while read l; do rm x; done",
            " && if a; then rm x; fi",
            " # c",
            " | rm \\",
            " | rm x \\",
            " <<F | rm x",
            " | rm x <<F",
            " \\",
            " | \"rm\" 'x\\'",
        ]);
        let mut text = String::new();
        for _ in 0..=self.below(2) {
            text.push('\n');
            text.push_str(self.pick(&[
                "b",
                "\\b",
                "\\\\b",
                "\\",
                "b\\",
                "$t",
                "$(rm y)",
                "`rm y`",
                "'b",
                "\"b",
                "'",
                "\"",
                "#b",
                "E ",
                " E",
                "\tE",
                "EE",
                "-E",
                "|rm y",
                "&rm y",
                ";rm y",
                "(rm y",
                ")",
                "{",
                "}",
                "<f1",
                "<<F",
                ">f1",
                "F",
                "*",
                "~",
                "=b",
                "v=w",
                "!b",
                "",
                "\\$(rm y)",
                "\\`rm y\\`",
                "${t:-$(rm y)}",
                "$((t))",
                "$'b'",
                "$\"b\"",
                "rm y",
                "\\E",
                "é",
                "\\ ",
                "\\\t",
                "\\é",
            ]));
        }
        let next = self.pick(&["", "", "", "\nrm z; x1", "\n(rm z; x1)", "\nb && rm"]);
        let after = self.pick(&["", "\n", "\nrm z", "\nb\n", " "]);
        format!("{before}a {mark}{rest}{text}\nE{next}{close}{after}")
    }
}
