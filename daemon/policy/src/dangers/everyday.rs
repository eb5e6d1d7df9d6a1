//! Dangerous options of programs that read, find and sort. Facts only; called by `dangers`.

use super::{Danger, danger};

#[rustfmt::skip]
pub(super) const EVERYDAY: &[Danger] = &[

    danger(
        &["find", "gfind"], "",
        &[ "exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls", ],
    ),
    danger(
        &["fd", "fdfind"], "xX",
        &["exec", "exec-batch", "search-path", "path-separator"],
    ),
    danger(&["rg"], "z", &["pre", "hostname-bin", "search-zip"]),
    danger(
        &["ag", "ack", "ugrep", "bat", "batcat", "delta"], "",
        &["pager", "filter", "output", "diff"],
    ),
    danger(
        &["sort"], "oT",
        &[ "output", "compress-program", "temporary-directory", "files0-from", ],
    ),
    danger(&["shuf", "base64"], "o", &["output"]),
    danger(&["split", "csplit"], "", &["filter", "prefix"]),
    danger(&["tree"], "oR", &["output"]),
    danger(&["file"], "Cmz", &["compile", "magic-file", "uncompress"]),
    danger(&["diff"], "l", &["paginate"]),
    danger(&["date"], "sf", &["set", "file"]),
    danger(&["jq"], "fL", &["from-file", "library-path"]),
    danger(
        &["yq"], "is",
        &[ "inplace", "in-place", "split-exp", "from-file", "split-exp-file", ],
    ),
    // The list of files to read stands in a file.
    danger(&["wc", "du"], "", &["files0-from"]),
    danger(&["printf"], "v", &[]),
    danger(&["test", "["], "vR", &[]),
    danger(&["wait"], "p", &[]),
    danger(&["hash"], "p", &[]),
    danger(
        &["zip"], "TmO",
        &["unzip-command", "test", "output-file", "move"],
    ),
    danger(
        &[ "xmllint", "xsltproc", "openssl", "gpg", "gpg2", "pandoc", "ffmpeg", "convert", "magick", "base32", ], "oF",
        &[ "output", "out", "engine", "filter", "lua-filter", "pdf-engine", "load-trace", "path", "keyout", "config", "provider", "log-file", ],
    ),
    danger(
        &[ "mkdir", "touch", "cp", "mv", "rm", "rmdir", "chmod", "install", ], "tS",
        &["target-directory", "suffix", "reference", "strip-program"],
    ),
    danger(&["find", "gfind"], "", &["files0-from"]),
    danger(&["iconv", "enscript", "a2ps", "dot", "neato", "gs", "base64"], "o", &["output"]),
    danger(&["ctags", "etags", "universal-ctags"], "fo", &["options", "output", "filter"]),
    danger(&["cowsay", "cowthink"], "f", &[]),
    danger(&["hexdump"], "f", &[]),
    danger(&["journalctl"], "", &["rotate", "vacuum-size", "vacuum-time", "vacuum-files", "file", "root", "setup-keys"]),
    danger(&["dmesg"], "CcDEFn", &["clear", "read-clear", "console-off", "console-on", "console-level", "file"]),
    danger(&["ss"], "DKF", &["diag", "kill", "filter"]),
    danger(&["lsof"], "D", &[]),
    danger(&["hostname"], "Fb", &["file", "boot"]),
    danger(&["logger", "look", "pr", "fmt"], "f", &["file"]),
    danger(&["exiftool"], "o@", &["if", "config", "execute", "tagsfromfile"]),
    danger(&["column", "ul", "rev"], "", &[]),
    danger(&["clang-format", "clang-tidy"], "p", &["style", "config", "config-file", "load", "export-fixes", "checks"]),
    danger(&["ld", "as", "nasm", "yasm", "objdump", "readelf", "nm"], "o@", &["output", "plugin", "load"]),
];
