//! `TagResource`, `UntagResource` and `ListTagsOfResource`.

use keyform_core::Error;
use keyform_core::error::table as texts;
use keyform_core::limits::TAGS_MAX;
use keyform_core::operation::{ListTagsOfResource, ListTagsOfResourceOutput, TagResource, UntagResource};
use keyform_core::table::Tag;

use super::create::merged_tags;
use crate::catalog::{Table, TableSettings};
use crate::engine::{Engine, Started};
use crate::store::Batch;

impl Engine {
    pub(crate) fn tag_resource(&self, request: &TagResource) -> Result<Started<()>, Error> {
        let changed = |tags: &[Tag]| {
            let tags = merged_tags(tags, &request.tags);
            if tags.len() > TAGS_MAX { Err(texts::too_many_tags()) } else { Ok(tags) }
        };
        self.change_tags(&request.arn, || texts::no_resource_to_tag(&request.arn), changed)
    }

    pub(crate) fn untag_resource(&self, request: &UntagResource) -> Result<Started<()>, Error> {
        let changed = |tags: &[Tag]| Ok(tags.iter().filter(|tag| !request.keys.contains(&tag.key)).cloned().collect());
        self.change_tags(&request.arn, texts::resource_not_found, changed)
    }

    pub(crate) fn list_tags_of_resource(
        &self,
        request: &ListTagsOfResource,
    ) -> Result<Started<ListTagsOfResourceOutput>, Error> {
        let catalog = self.catalog.read();
        let missing = || texts::no_tags_to_list(&self.settings.account, &request.arn);
        let table =
            catalog.find(table_of_arn(&request.arn)?).filter(|_| self.is_own(&request.arn)).ok_or_else(missing)?;
        let tags = table.settings.tags.clone();
        Ok(self.told(ListTagsOfResourceOutput { tags, next: None }))
    }

    fn change_tags(
        &self,
        arn: &str,
        missing: impl Fn() -> Error,
        changed: impl Fn(&[Tag]) -> Result<Vec<Tag>, Error>,
    ) -> Result<Started<()>, Error> {
        let name = table_of_arn(arn)?;
        let mut catalog = self.catalog.write();
        let table = catalog.find(name).filter(|_| self.is_own(arn)).ok_or_else(missing)?;
        let settings = TableSettings { tags: changed(&table.settings.tags)?, ..table.settings.clone() };
        let table = Table { settings, ..Table::clone(table) };
        let commit = self.save_table(&mut catalog, table, Batch::new())?;
        Ok(Started::after(commit, ()))
    }

    fn is_own(&self, arn: &str) -> bool {
        arn.starts_with(&super::table_arn_prefix(&self.settings))
    }
}

/// Returns the table name in a table's ARN.
fn table_of_arn(arn: &str) -> Result<&str, Error> {
    let invalid = || texts::invalid_resource_arn(arn);
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    match parts.as_slice() {
        ["arn", _, "dynamodb", _, _, resource] => {
            resource.strip_prefix("table/").filter(|name| !name.contains('/')).ok_or_else(invalid)
        }
        _ => Err(invalid()),
    }
}
