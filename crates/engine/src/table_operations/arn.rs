//! ARNs of tables, indexes, streams and keys, and stream labels.

use twox_hash::XxHash3_64;

use crate::calendar;
use crate::catalog::Stream;
use crate::engine::EngineSettings;

/// Returns the common prefix of all table ARNs.
pub(crate) fn table_arn_prefix(settings: &EngineSettings) -> String {
    format!("arn:aws:dynamodb:{}:{}:table/", settings.region, settings.account)
}

pub(crate) fn table_arn(settings: &EngineSettings, table: &str) -> String {
    format!("{}{table}", table_arn_prefix(settings))
}

pub(crate) fn index_arn(settings: &EngineSettings, table: &str, index: &str) -> String {
    format!("{}{table}/index/{index}", table_arn_prefix(settings))
}

pub(crate) fn stream_arn(settings: &EngineSettings, stream: &Stream) -> String {
    format!("{}{}/stream/{}", table_arn_prefix(settings), stream.table, stream_label(stream.created_ms))
}

/// Returns the ARN of a KMS key: the one in the request, or the account's default key.
pub(crate) fn kms_key_arn(settings: &EngineSettings, stated: Option<&str>) -> String {
    let EngineSettings { region, account, .. } = settings;
    match stated {
        Some(arn) if arn.starts_with("arn:") => arn.to_owned(),
        Some(alias) if alias.starts_with("alias/") => format!("arn:aws:kms:{region}:{account}:{alias}"),
        Some(id) => format!("arn:aws:kms:{region}:{account}:key/{id}"),
        None => format!("arn:aws:kms:{region}:{account}:key/{}", account_key_id(account)),
    }
}

/// Returns the id of an account's default key, which is always the same.
fn account_key_id(account: &str) -> String {
    let high = XxHash3_64::oneshot_with_seed(1, account.as_bytes());
    let low = XxHash3_64::oneshot_with_seed(2, account.as_bytes());
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0x0fff);
    format!("{a:08x}-{b:04x}-4{c:03x}-8{:03x}-{:012x}", low >> 48 & 0x0fff, low & 0xffff_ffff_ffff)
}

/// Returns the label of a stream created at that time, such as `2026-11-15T12:00:00.000`.
pub(crate) fn stream_label(created_ms: u64) -> String {
    calendar::utc_millisecond(created_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_dates() {
        assert_eq!(stream_label(0), "1970-01-01T00:00:00.000");
        assert_eq!(stream_label(951_782_400_000 + 3_723_004), "2000-02-29T01:02:03.004");
        assert_eq!(stream_label(1_794_743_096_608), "2026-11-15T11:44:56.608");
    }

    #[test]
    fn an_account_has_one_key_in_the_form_of_a_uuid() {
        let settings = EngineSettings::default();
        let arn = kms_key_arn(&settings, None);
        assert_eq!(arn, kms_key_arn(&settings, None));
        assert_eq!(arn.rsplit('/').next().map(str::len), Some(36));
    }
}
