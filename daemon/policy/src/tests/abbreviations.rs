//! Subcommands that may be written as the beginning of their names.

use super::*;

#[test]
fn beginning_of_a_risky_subcommand_is_not_covered() {
    check(
        "allow Bash(npm:*) / allow Bash(npm exe:*) / allow Bash(npm pkg get:*) / allow Bash(bundle:*)",
        "ask   | npm exec evil
         ask   | npm exe evil
         ask   | npm e evil
         ask   | npm cre x
         ask   | npm ini x
         ask   | npm innit x
         ask   | npm inn x
         ask   | npm conf set script-shell x
         ask   | npm c set a b
         ask   | npm pkg set scripts.test=x
         ask   | npm pk set scripts.test=x
         ask   | npm ru x
         ask   | npm explo x
         ask   | npm start-s
         allow | npm pkg get name
         allow | npm test
         allow | npm t
         allow | npm i
         allow | npm install
         allow | npm run build
         allow | npm start
         allow | npm ls
         allow | npm ci
         ask   | bundle ex x
         ask   | bundle conf x
         allow | bundle install",
    );
}

#[test]
fn deny_rule_may_hold_for_the_beginning_of_its_subcommand() {
    check(
        "allow Bash / deny Bash(npm publish:*) / deny Bash(rm -rf*)",
        "deny  | npm publish
         ask   | npm pub
         ask   | npm publis
         ask   | npm --x pub
         ask   | npm -C a publ --tag b
         ask   | timeout 5 npm pub
         deny  | npm exe -- rm -rf y
         deny  | npm exe -c 'rm -rf y'
         allow | npm test
         allow | npm run pub
         allow | npm run build
         allow | npm i pub",
    );
    check(
        "allow Bash / deny Bash(npm install:*)",
        "ask | npm i\n ask | npm inst x\n allow | npm run i",
    );
}
