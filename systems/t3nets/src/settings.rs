//! Settings of a tenant: defaults and partial changes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::TenantSettings;

/// Returns the default settings.
#[must_use]
pub fn defaults() -> TenantSettings {
    TenantSettings {
        ai_provider: "bedrock".to_owned(),
        ai_model: String::new(),
        system_prompt_override: String::new(),
        max_tokens_per_message: 4096,
        enabled_channels: vec!["dashboard".to_owned()],
        enabled_skills: Vec::new(),
        custom_skills: Vec::new(),
        messages_per_day: 1000,
        max_conversation_history: 20,
    }
}

/// Settings to change; absent ones stay unchanged. The model checks their bounds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the model documents the settings")]
pub struct SettingsChange {
    pub ai_provider: Option<String>,
    pub ai_model: Option<String>,
    pub system_prompt_override: Option<String>,
    pub max_tokens_per_message: Option<i64>,
    pub enabled_channels: Option<Vec<String>>,
    pub enabled_skills: Option<Vec<String>>,
    pub custom_skills: Option<Vec<String>>,
    pub messages_per_day: Option<i64>,
    pub max_conversation_history: Option<i64>,
}

impl SettingsChange {
    /// Returns the settings with this change applied.
    #[must_use]
    pub fn applied_to(self, settings: TenantSettings) -> TenantSettings {
        TenantSettings {
            ai_provider: self.ai_provider.unwrap_or(settings.ai_provider),
            ai_model: self.ai_model.unwrap_or(settings.ai_model),
            system_prompt_override: self.system_prompt_override.unwrap_or(settings.system_prompt_override),
            max_tokens_per_message: self.max_tokens_per_message.unwrap_or(settings.max_tokens_per_message),
            enabled_channels: self.enabled_channels.unwrap_or(settings.enabled_channels),
            enabled_skills: self.enabled_skills.unwrap_or(settings.enabled_skills),
            custom_skills: self.custom_skills.unwrap_or(settings.custom_skills),
            messages_per_day: self.messages_per_day.unwrap_or(settings.messages_per_day),
            max_conversation_history: self.max_conversation_history.unwrap_or(settings.max_conversation_history),
        }
    }
}
