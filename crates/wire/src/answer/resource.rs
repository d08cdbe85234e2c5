//! Responses about expiry, tags, backups and limits.

use keyform_core::operation::{
    ContinuousBackups, DescribeLimitsOutput, ListTagsOfResourceOutput, TimeToLive, TimeToLiveStatus,
};

use crate::json::Writer;

/// Writes the UpdateTimeToLive response.
pub(super) fn update_time_to_live(out: &mut Writer<'_>, setting: &TimeToLive) {
    out.object_member("TimeToLiveSpecification", |out| {
        out.string_member("AttributeName", &setting.attribute);
        out.boolean_member("Enabled", setting.enabled);
    });
}

/// Writes the DescribeTimeToLive response.
pub(super) fn describe_time_to_live(out: &mut Writer<'_>, status: &TimeToLiveStatus) {
    out.object_member("TimeToLiveDescription", |out| {
        if let Some(attribute) = &status.attribute {
            out.string_member("AttributeName", attribute);
        }
        out.string_member("TimeToLiveStatus", if status.attribute.is_some() { "ENABLED" } else { "DISABLED" });
    });
}

/// Writes the response of DescribeContinuousBackups and UpdateContinuousBackups.
pub(super) fn describe_backups(out: &mut Writer<'_>, backups: ContinuousBackups) {
    out.object_member("ContinuousBackupsDescription", |out| {
        out.string_member("ContinuousBackupsStatus", "ENABLED");
        out.object_member("PointInTimeRecoveryDescription", |out| {
            out.string_member("PointInTimeRecoveryStatus", if backups.recovery { "ENABLED" } else { "DISABLED" });
        });
    });
}

/// Writes the DescribeLimits response.
pub(super) fn describe_limits(out: &mut Writer<'_>, output: &DescribeLimitsOutput) {
    out.whole_member("AccountMaxReadCapacityUnits", output.account.read);
    out.whole_member("AccountMaxWriteCapacityUnits", output.account.write);
    out.whole_member("TableMaxReadCapacityUnits", output.table.read);
    out.whole_member("TableMaxWriteCapacityUnits", output.table.write);
}

/// Writes the ListTagsOfResource response.
pub(super) fn list_tags(out: &mut Writer<'_>, output: &ListTagsOfResourceOutput) {
    out.name("Tags");
    out.array(&output.tags, |out, tag| {
        out.object(|out| {
            out.string_member("Key", &tag.key);
            out.string_member("Value", &tag.value);
        });
    });
    if let Some(next) = &output.next {
        out.string_member("NextToken", next);
    }
}
