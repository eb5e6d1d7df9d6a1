//! Ordinary arguments that a rule for a program covers, beside similar ones that it does not.

use super::*;

#[test]
fn rule_for_cmake_build_covers_a_directory_of_the_workspace() {
    check(
        "allow Bash(cmake --build:*)",
        "allow | cmake --build build
         allow | cmake --build build -j4 --target all
         ask   | cmake --build /tmp/x
         ask   | cmake --build ../x
         ask   | cmake --build ~/x
         ask   | cmake --build build -- -f x
         ask   | cmake --build build -- SHELL=x
         allow | cmake --build build --target=x --config Release
         allow | cmake --build build -t x/all
         ask   | cmake --build build --target 'all;--eval=$(shell touch x)'
         ask   | cmake --build build '--target=--eval=x'
         ask   | cmake --build build --target --eval=x
         ask   | cmake --build build -t -fx
         ask   | cmake --build build -t-fx
         ask   | cmake --build build --target all SHELL=x
         ask   | cmake --build build -P x.cmake
         ask   | cmake --build build --install x
         ask   | cmake -P x.cmake
         ask   | cmake --install x",
    );
    check(
        "allow Bash(cmake:*) / allow Bash(cmake --install:*) / allow Bash(cmake -P:*)",
        "ask | cmake --build build\n ask | cmake --install x\n ask | cmake -P x",
    );
}

#[test]
fn rule_for_awk_covers_comparisons_patterns_and_variables() {
    check(
        "allow Bash(awk:*)",
        "allow | awk 'NR>1' f
         allow | awk 'NR>1{print $1}' f
         allow | awk 'length($0) > 80' f
         allow | awk '/a|b/' f
         allow | awk '/a|b/{print}' f
         allow | awk 'a || b' f
         allow | awk -F'|' '{print $2}' f
         allow | awk -F '|' '{print $2}' f
         allow | awk -v n=3 'NR==n' f
         allow | awk -vn=3 'NR==n' f g
         ask   | awk '{print > \"x\"}' f
         ask   | awk '{print>\"x\"}' f
         ask   | awk '{printf \"a\" >> \"x\"}' f
         ask   | awk '{print | \"x\"}' f
         ask   | awk '{print |& \"x\"}' f
         ask   | awk 'NR>1{print \"}\" > \"x\"}' f
         ask   | awk '{\"x\" | getline}' f
         ask   | awk '{getline a < \"x\"}' f
         ask   | awk 'BEGIN{system(\"x\")}'
         ask   | awk '@load \"x\"' f
         ask   | awk -v f=system '{@f(1)}' f
         ask   | awk -v n=3 'BEGIN{system(n)}'
         ask   | awk -F '|' 'BEGIN{system(1)}'
         ask   | awk -f x f
         ask   | awk -i inplace '{print}' f
         ask   | awk -vn=3 -f x f
         ask   | awk -lx '{print}' f
         ask   | awk '{print}' *
         ask   | awk -F: 1 ARGV=x
         ask   | awk -F * '{print}'
         ask   | awk -v * '{print}'
         ask   | awk 'BEGIN{SYMTAB[\"AR\" \"GV\"][1]=\"x\"}{print}' f
         allow | awk 1 OFS=x f
         ask   | awk --source '{print}' f
         ask   | awk -- '{print}' f",
    );
}

#[test]
fn words_after_two_dashes_belong_to_the_script_of_npm() {
    check(
        "allow Bash(npm run:*) / allow Bash(npm:*) / allow Bash(npm exec:*) / allow Bash(cargo test:*)",
        "allow | npm run x -- -c 1
         allow | npm run x -- --shell a
         allow | npm test -- --cache
         ask   | npm run x -c 1
         ask   | npm run x --script-shell=./x
         ask   | npm --prefix x run y -- z
         ask   | npm run x --shell a -- b
         ask   | npm exec -- evil
         ask   | cargo test -- --logfile=x
         allow | cargo test -- --config",
    );
}

#[test]
fn words_that_cargo_passes_on_are_lints_and_modes_of_printing() {
    check(
        "allow Bash(cargo:*) / allow Bash(cargo clippy:*)",
        "allow | cargo clippy -- -D warnings
         allow | cargo clippy --all-targets -- -Dwarnings -A clippy::too_many_arguments -Wclippy::pedantic
         allow | cargo test -- --nocapture
         allow | cargo fmt -- --check
         allow | cargo help
         ask   | cargo clippy -- -Clinker=./x
         ask   | cargo +nightly clippy -- -Clinker=./x
         ask   | cargo clippy -- -C linker=./x
         ask   | cargo clippy -- --emit=dep-info=x
         ask   | cargo clippy -- -o x
         ask   | cargo fmt -- ../x.rs
         ask   | cargo fmt -- --print-config default x
         ask   | cargo fmt -- --config-path x
         ask   | cargo help x",
    );
}

#[test]
fn curl_rsync_and_git_write_and_read_no_file_by_other_spellings() {
    check(
        "allow Bash(curl:*) / allow Bash(rsync:*) / allow Bash(git:*)",
        "allow | curl -s 'https://x/{a,b}'
         ask   | curl 'fil{e}:///x'
         ask   | curl '[f-f]ile:///x'
         ask   | curl fil{e}:///x
         allow | rsync -a a b
         ask   | rsync --remote-option=--log-file=x a b
         ask   | rsync -M--log-file=x a b
         ask   | git apply --build-fake-ancestor=x p
         ask   | git apply --build-f=x p
         ask   | git gc --expire-to=x",
    );
}
