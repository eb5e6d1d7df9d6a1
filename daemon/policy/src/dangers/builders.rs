//! Dangerous options of programs that build, test and lint. Facts only; called by `dangers`.

use super::{Danger, danger};

#[rustfmt::skip]
pub(super) const BUILDERS: &[Danger] = &[
    danger(
        &["go", "gotestsum"], "",
        &[ "o", "c", "exec", "toolexec", "vettool", "overlay", "modfile", "modcacherw", "pkgdir", "ldflags", "gcflags", "asmflags", "gccgoflags", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "outputdir", "fuzzcachedir", "test.coverprofile", "test.cpuprofile", "test.memprofile", "test.outputdir", "test.trace", "test.testlogfile", "test.blockprofile", "test.mutexprofile", "junitfile", "jsonfile", "post-run-command", ],
    ),
    danger(
        &["cargo"], "ZC",
        &[ "config", "manifest-path", "target-dir", "out-dir", "artifact-dir", "root", "path", "lockfile-path", "logfile", "index", "registry", ],
    ),
    danger(
        &["npm", "pnpm", "yarn", "corepack"], "Cc",
        &[ "prefix", "dir", "cwd", "script-shell", "node-options", "userconfig", "globalconfig", "call", "shell", "git", "init-module", "cache", "use-yarnrc", "rcfile", "editor", "viewer", "browser", "global-dir", ],
    ),
    danger(
        &["make", "gmake", "ninja", "just", "task", "rake"], "fCIEt",
        &[ "file", "makefile", "directory", "include-dir", "eval", "justfile", "working-directory", "shell", "shell-arg", "set", "rakefile", "require", "taskfile", "dir", "dotenv-path", ],
    ),
    danger(
        &["cmake"], "PEBSCD",
        &[ "build", "install", "toolchain", "graphviz", "trace-redirect", ],
    ),
    danger(
        &["pytest", "py.test"], "pco",
        &[ "rootdir", "confcutdir", "override-ini", "basetemp", "junitxml", "junit-xml", "resultlog", "log-file", "pdbcls", "cov-report", "cov-config", "debug", "report-log", "html", "plugin", ],
    ),
    danger(
        &[ "eslint", "prettier", "jest", "vitest", "mocha", "ava", "tap", "stylelint", "webpack", "vite", "rollup", "esbuild", "babel", "nyc", "c8", ], "crof",
        &[ "config", "plugin", "parser", "rulesdir", "resolve-plugins-relative-to", "format", "formatter", "custom-formatter", "output-file", "outputfile", "outfile", "outdir", "output", "output-path", "cache-location", "cache-file", "require", "loader", "import", "runner", "transform", "reporters", "reporter", "globalsetup", "setupfiles", "setupfilesafterenv", "testenvironment", "resolver", "rootdir", "root", "dir", "file", "node-option", "report-dir", "temp-directory", "coveragedirectory", ],
    ),
    danger(
        &["tsc"], "pb",
        &[ "project", "build", "outdir", "outfile", "declarationdir", "tsbuildinfofile", "generatetrace", "generatecpuprofile", "locale", ],
    ),
    danger(
        &[ "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ld", "tcc", "gfortran", "javac", "swiftc", "ghc", ], "oBCWfx@LZ",
        &[ "output", "out-dir", "emit", "plugin", "specs", "wrapper", "sysroot", "config", "processor", "processorpath", ],
    ),
    danger(
        &["pip", "pip3"], "tdi",
        &[ "target", "root", "prefix", "python", "log", "cache-dir", "src", "dest", "index-url", "extra-index-url", "find-links", "global-option", "build-option", "config-settings", "report", "constraint", ],
    ),
    danger(
        &[ "mypy", "ruff", "black", "flake8", "pylint", "pyright", "tox", "nox", "isort", ], "cfpo",
        &[ "config", "config-file", "rcfile", "load-plugins", "init-hook", "python-executable", "custom-typeshed-dir", "cache-dir", "output-file", "output", "any-exe", "html-report", "xml-report", "junit-xml", "root", "workdir", "noxfile", "append-config", "pythonpath", "project", ],
    ),
    danger(
        &["gradle", "gradlew", "mvn", "mvnw", "ant", "sbt"], "IbcpfsDl",
        &[ "init-script", "build-file", "settings-file", "project-dir", "file", "settings", "global-settings", "include-build", "project-cache-dir", "gradle-user-home", "log-file", "lib", ],
    ),
    danger(
        &["ctest"], "SDMTOCd",
        &[ "script", "script-new-process", "dashboard", "build-and-test", "output-log", "output-junit", "overwrite", "add-notes", "extra-submit", "test-dir", ],
    ),
    danger(&["dotnet"], "oc", &["output", "configfile", "property", "logger", "settings", "test-adapter-path", "results-directory", "additional-deps", "fx-version", "roll-forward", "depsfile", "runtimeconfig"]),
    danger(&["phpunit", "pest", "phpstan", "psalm", "rspec", "rubocop", "standardrb", "minitest"], "cIrOo", &["bootstrap", "configuration", "config", "autoload-file", "include-path", "require", "options", "out", "plugin", "prepend", "log-junit", "printer", "extension", "auto-gen-config", "stdin"]),
    danger(&["composer"], "d", &["working-dir"]),
    danger(&["swift"], "o", &["package-path", "build-path", "scratch-path", "Xswiftc", "Xcc", "Xlinker", "toolchain"]),
    danger(&["bazel", "bazelisk", "buck", "buck2"], "", &["run_under", "script_path", "bazelrc", "output_base", "output_user_root", "override_repository", "action_env", "shell_executable", "workspace_status_command", "experimental_ui_debug_all_events"]),
    danger(&["golangci-lint", "staticcheck", "revive", "shellcheck", "hadolint", "actionlint"], "c", &["config", "out", "output", "formatter", "external-sources", "shellcheck", "pyflakes", "cpu-profile-path", "mem-profile-path", "trace-path"]),
    danger(&["coverage"], "o", &["rcfile", "data-file"]),
    danger(&["sphinx-build", "mkdocs", "hugo", "jekyll", "zola"], "cfdD", &["config-file", "config", "destination", "plugins"]),
    danger(&["mix", "rebar3", "stack", "cabal", "lein"], "", &["eval", "require", "config-file", "with-gcc", "with-compiler", "stack-yaml", "project-file"]),
    danger(&["rustfmt", "gofmt"], "", &["config-path", "cpuprofile", "emit", "backup"]),
    danger(&["biome", "oxlint", "standard", "xo", "swc", "turbo", "nx", "lerna", "playwright", "cypress", "tap", "karma"], "c", &["config", "config-path", "config-file", "cwd", "plugin", "project", "reporter-options", "require", "root", "output"]),
];
