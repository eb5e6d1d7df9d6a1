//! The interface's look from settings and environment.

use std::path::Path;

use client::Client;
use proto::state::ApprovalMode;

use crate::messages::Language;
use crate::model::ViewOptions;
use crate::perform;
use crate::terminal::TerminalEnvironment;
use crate::theme::Theme;

/// Settings of the interface.
pub(super) struct Settings {
    theme: Option<Theme>,
    language: Option<Language>,
    vim: bool,
    fullscreen: bool,
    pub(super) mouse: bool,
    bell: bool,
    /// The approval mode of new sessions.
    pub(super) approval_mode: Option<ApprovalMode>,
    /// The model of a session that names none.
    pub(super) model: String,
}

impl Settings {
    pub(super) async fn read(client: &Client, cwd: &Path) -> Self {
        let (values, model) = futures::join!(
            perform::settings(client, cwd),
            perform::default_model(client, cwd),
        );
        let find = |key: &str| {
            let mut values = values.iter();
            values
                .find(|value| value.key == key)
                .map(|value| &value.value)
        };
        let word = |key: &str| {
            find(key)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let flag = |key: &str, default| {
            find(key)
                .and_then(|value| value.as_bool())
                .unwrap_or(default)
        };
        Self {
            theme: Theme::named(word("tui.theme")),
            language: Language::named(word("language")),
            vim: flag("tui.vim", false),
            fullscreen: flag("tui.fullscreen", false),
            mouse: flag("tui.mouse", false),
            bell: flag("tui.bell", true),
            approval_mode: ApprovalMode::named(word("permissions.mode")),
            model,
        }
    }

    /// With what the environment says where the settings leave it open.
    pub(super) fn look(
        &self,
        surroundings: &TerminalEnvironment,
        (columns, rows): (u16, u16),
        fullscreen: Option<bool>,
    ) -> ViewOptions {
        // A terminal without colours has none, whatever the settings say.
        let theme = match surroundings.theme {
            Theme::None => Theme::None,
            auto => self.theme.unwrap_or(auto),
        };
        ViewOptions {
            theme,
            auto_theme: surroundings.theme,
            language: self.language.unwrap_or(surroundings.language),
            columns,
            rows,
            fullscreen: fullscreen.unwrap_or(self.fullscreen),
            links: surroundings.links,
            vim: self.vim,
            bell: self.bell,
            ..ViewOptions::default()
        }
    }
}
