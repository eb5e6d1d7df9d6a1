//! Which model works as a sub-agent, by the config.

use std::collections::BTreeMap;

/// What the config says of the models of sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentModels {
    /// Of those that nothing else names one for.
    pub of_all: Option<String>,
    /// By the name of an agent, or of a skill that runs as one.
    pub by_name: BTreeMap<String, String>,
}

impl AgentModels {
    /// The model of an agent whose file names `own`. `None`: that of the session that starts it.
    #[must_use]
    pub fn model_of(&self, name: &str, own: Option<&str>) -> Option<String> {
        let named = self.by_name.get(name).map(String::as_str);
        let model = named.or(own).or(self.of_all.as_deref());
        model.map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_model_comes_from_config_by_name_then_file_then_default() {
        let models = AgentModels {
            of_all: Some("all".to_owned()),
            by_name: BTreeMap::from([("explore".to_owned(), "cheap".to_owned())]),
        };
        let of = |name, own| models.model_of(name, own);
        assert_eq!(of("explore", Some("own")).as_deref(), Some("cheap"));
        assert_eq!(of("review", Some("own")).as_deref(), Some("own"));
        assert_eq!(of("review", None).as_deref(), Some("all"));
        assert_eq!(AgentModels::default().model_of("review", None), None);
    }
}
