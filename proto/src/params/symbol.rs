//! Symbols: definitions in source files, which a prompt can refer to (`@name`, `@path#name`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `symbol.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SymbolListParams")]
pub struct ListParams {
    /// Absolute path of the directory.
    pub cwd: String,
}

/// Answer of `symbol.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SymbolListOutput")]
pub struct ListOutput {
    /// Sorted by path and line.
    pub symbols: Vec<SymbolInfo>,
    /// Not all are listed: there are too many, or the time ran out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SymbolInfo {
    /// Path from the directory.
    pub path: String,
    /// Line of its name, from 1.
    pub line: u64,
    pub name: String,
}
