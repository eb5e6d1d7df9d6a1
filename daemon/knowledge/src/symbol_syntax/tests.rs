use proptest::prelude::*;

use super::*;

#[test]
fn definitions_of_common_languages_are_found() {
    for (line, name) in [
        ("fn total(items: &[u32]) -> u32 {", "total"),
        ("    pub(crate) async fn run_all(", "run_all"),
        ("pub extern \"C\" fn entry() {", "entry"),
        ("pub struct Cart<'a> {", "Cart"),
        ("pub const LIMIT: usize = 3;", "LIMIT"),
        ("static COUNT: AtomicU64 = AtomicU64::new(0);", "COUNT"),
        ("macro_rules! check {", "check"),
        ("def total(items):", "total"),
        ("    async def fetch(self):", "fetch"),
        ("class Cart(Base):", "Cart"),
        ("  def self.build(a)", "build"),
        ("export default function main() {", "main"),
        ("function* walk() {", "walk"),
        ("export const add = (a, b) => a + b;", "add"),
        ("const run = async function () {", "run"),
        ("export abstract class Shape {", "Shape"),
        ("export interface Props {", "Props"),
        ("type Id = string;", "Id"),
        ("func Sum(a int) int {", "Sum"),
        ("func (c *Cart) Total() int {", "Total"),
        ("type Cart struct {", "Cart"),
        ("public static void main(String[] args) {", "main"),
        ("int add(int a, int b) {", "add"),
        ("enum class Colour {", "Colour"),
        ("#define MAX_SIZE 10", "MAX_SIZE"),
        ("data class User(val name: String)", "User"),
        ("  total(items) {", "total"),
        ("template <typename T> class Box {", "Box"),
    ] {
        assert_eq!(definition(line), Some(name), "{line}");
    }
}

#[test]
fn other_lines_define_nothing() {
    for line in [
        "",
        "total(items);",
        "let sum = 1;",
        "const value = 1;",
        "if (a) {",
        "} else if (b) {",
        "for (const a of b) {",
        "return total(a);",
        "describe(\"a\", () => {",
        "module.exports = {",
        "type: String,",
        "// fn total() {}",
        "# def total(): pass",
        "match total(a) {",
    ] {
        assert_eq!(definition(line), None, "{line}");
    }
}

/// The lines that are taken for the definition with this name.
fn taken(source: &str, name: &str) -> String {
    let lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let index = lines.iter().position(|line| definition(line) == Some(name));
    let (first, last) = extent(&lines, index.expect("a definition"));
    lines[first..=last].join("\n")
}

#[test]
fn definition_has_its_comments_and_its_body() {
    let rust = "\
mod a;

/// Sums.
#[must_use]
pub fn total(
    items: &[u32],
) -> u32
where
    u32: Copy,
{
    let x = 1;

    x
}
pub struct Unit;
fn next() {}
";
    let total = taken(rust, "total");
    assert!(total.starts_with("/// Sums.\n#[must_use]\n"), "{total}");
    assert!(total.ends_with("\n\n    x\n}"), "{total}");
    assert_eq!(taken(rust, "Unit"), "pub struct Unit;");
    let python = "@cached\ndef total(a):\n    b = 1\n\n    return b\n\n\ndef other():\n    pass\n";
    let total = taken(python, "total");
    assert_eq!(total, "@cached\ndef total(a):\n    b = 1\n\n    return b");
    let ruby = "class A\n  def a\n    1\n  end\n\n  def b\n  end\nend\n";
    assert_eq!(taken(ruby, "a"), "  def a\n    1\n  end");
    let c = "int add(int a) {\n  return a;\n}\nint b;\n";
    assert_eq!(taken(c, "add"), "int add(int a) {\n  return a;\n}");
}

proptest! {
    #[test]
    fn any_lines_have_an_extent_around_the_definition(
        lines in prop::collection::vec("[ \t]{0,4}[a-z#/(){}\u{e9}$\"<*! ]{0,12}", 0..12),
        index in 0_usize..14,
    ) {
        let (first, last) = extent(&lines, index);
        prop_assert!(first <= index && index <= last);
        prop_assert!(last < lines.len().max(index + 1));
        for line in &lines {
            if let Some(name) = definition(line) {
                prop_assert!(is_name(name) && line.contains(name));
            }
        }
    }
}
