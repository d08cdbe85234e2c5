//! Requests for tags and continuous backups.

use aws_sdk_dynamodb::types::{self, PointInTimeRecoverySpecification, PointInTimeRecoveryStatus};
use keyform_core::Error;
use keyform_core::operation::{
    ContinuousBackups, DescribeContinuousBackups, ListTagsOfResource, ListTagsOfResourceOutput, TagResource,
    UntagResource, UpdateContinuousBackups,
};
use keyform_core::table::Tag;

use crate::table::tag;
use crate::{Remote, failure};

impl Remote {
    pub(crate) async fn describe_continuous_backups(
        &self,
        describe: DescribeContinuousBackups,
    ) -> Result<ContinuousBackups, Error> {
        let request = self.client.describe_continuous_backups().table_name(describe.table);
        let output = request.send().await.map_err(failure::service_error)?;
        Ok(backups(output.continuous_backups_description))
    }

    pub(crate) async fn update_continuous_backups(
        &self,
        update: UpdateContinuousBackups,
    ) -> Result<ContinuousBackups, Error> {
        let setting = PointInTimeRecoverySpecification::builder()
            .point_in_time_recovery_enabled(update.recovery)
            .build()
            .map_err(failure::incomplete)?;
        let request = self.client.update_continuous_backups().table_name(update.table);
        let output =
            request.point_in_time_recovery_specification(setting).send().await.map_err(failure::service_error)?;
        Ok(backups(output.continuous_backups_description))
    }

    pub(crate) async fn tag_resource(&self, request: TagResource) -> Result<(), Error> {
        let tags = request.tags.iter().map(tag).collect::<Result<Vec<_>, _>>().map_err(failure::incomplete)?;
        let sent = self.client.tag_resource().resource_arn(request.arn).set_tags(Some(tags)).send().await;
        sent.map(drop).map_err(failure::service_error)
    }

    pub(crate) async fn untag_resource(&self, request: UntagResource) -> Result<(), Error> {
        let sent = self.client.untag_resource().resource_arn(request.arn).set_tag_keys(Some(request.keys)).send().await;
        sent.map(drop).map_err(failure::service_error)
    }

    pub(crate) async fn list_tags_of_resource(
        &self,
        request: ListTagsOfResource,
    ) -> Result<ListTagsOfResourceOutput, Error> {
        let sent = self.client.list_tags_of_resource().resource_arn(request.arn).set_next_token(request.next);
        let output = sent.send().await.map_err(failure::service_error)?;
        let tags = output.tags.unwrap_or_default().into_iter().map(|tag| Tag { key: tag.key, value: tag.value });
        Ok(ListTagsOfResourceOutput { tags: tags.collect(), next: output.next_token })
    }
}

fn backups(described: Option<types::ContinuousBackupsDescription>) -> ContinuousBackups {
    let recovery = described.and_then(|described| described.point_in_time_recovery_description);
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status);
    ContinuousBackups { recovery: status == Some(PointInTimeRecoveryStatus::Enabled) }
}
