//! Requests about the expiry, tags, backups and limits of tables.

use keyform_core::Error;
use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::limits::{KEY_NAME_BYTES_MAX, TAGS_MAX};
use keyform_core::operation::{
    DescribeContinuousBackups, DescribeLimits, DescribeTimeToLive, ListTagsOfResource, TagResource, TimeToLive,
    UntagResource, UpdateTimeToLive,
};
use keyform_core::table::Tag;

use super::parameters::checked_list;
use super::{Body, table_name};
use crate::Echo;
use crate::json::Reader;

const TAG_KEY_LENGTH_MAX: usize = 128;
const TAG_VALUE_LENGTH_MAX: usize = 256;

/// A tag before it is checked.
#[derive(Default)]
pub(super) struct RawTag {
    key: Option<String>,
    value: Option<String>,
}

/// Members of these requests before they are checked.
#[derive(Default)]
struct Raw {
    table: Option<String>,
    arn: Option<String>,
    next: Option<String>,
    tags: Option<Vec<RawTag>>,
    tag_keys: Option<Vec<String>>,
    expiry: Option<RawExpiry>,
}

/// TimeToLiveSpecification: AttributeName and Enabled.
type RawExpiry = (Option<String>, Option<bool>);

/// Reads an UpdateTimeToLive.
pub(super) fn update_time_to_live(body: Body<'_>) -> Result<(UpdateTimeToLive, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    let mut violations = Violations::new();
    check_table(&mut violations, raw.table.as_deref());
    if raw.table.is_some() {
        // DynamoDB reports an invalid table name without other violations.
        std::mem::take(&mut violations).finish()?;
    }
    check_expiry(&mut violations, &raw);
    violations.finish()?;
    let (attribute, enabled) = raw.expiry.unwrap_or_default();
    let setting = TimeToLive { attribute: attribute.unwrap_or_default(), enabled: enabled.unwrap_or(false) };
    Ok((UpdateTimeToLive { table: table_name::resolve(raw.table), setting }, echo))
}

/// Reads a DescribeTimeToLive.
pub(super) fn describe_time_to_live(body: Body<'_>) -> Result<(DescribeTimeToLive, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    table_name::check_control(raw.table.as_deref())?;
    Ok((DescribeTimeToLive { table: table_name::resolve(raw.table) }, echo))
}

/// Reads a DescribeContinuousBackups.
pub(super) fn describe_backups(body: Body<'_>) -> Result<(DescribeContinuousBackups, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    let mut violations = Violations::new();
    check_table(&mut violations, raw.table.as_deref());
    violations.finish()?;
    Ok((DescribeContinuousBackups { table: table_name::resolve(raw.table) }, echo))
}

/// Reads a DescribeLimits.
pub(super) fn describe_limits(body: Body<'_>) -> Result<(DescribeLimits, Echo), Error> {
    let ((), echo) = body.read(Reader::skip)?;
    Ok((DescribeLimits, echo))
}

/// Reads a TagResource.
pub(super) fn tag(body: Body<'_>) -> Result<(TagResource, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    let arn = check_arn(raw.arn)?;
    let tags = raw.tags.filter(|tags| !tags.is_empty()).ok_or_else(request::tags_missing)?;
    let tags = check_tags(tags)?;
    Ok((TagResource { arn, tags }, echo))
}

/// Reads an UntagResource.
pub(super) fn untag(body: Body<'_>) -> Result<(UntagResource, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    let arn = check_arn(raw.arn)?;
    let keys = raw.tag_keys.filter(|keys| !keys.is_empty()).ok_or_else(request::tag_keys_missing)?;
    Ok((UntagResource { arn, keys }, echo))
}

/// Reads a ListTagsOfResource.
pub(super) fn list_tags(body: Body<'_>) -> Result<(ListTagsOfResource, Echo), Error> {
    let (raw, echo) = body.read(read)?;
    let arn = check_arn(raw.arn)?;
    Ok((ListTagsOfResource { arn, next: raw.next }, echo))
}

/// Reads one tag.
pub(super) fn raw_tag(reader: &mut Reader<'_>) -> Result<RawTag, Error> {
    let mut tag = RawTag::default();
    reader.opt_structure("Tag", |reader, name| {
        match name {
            "Key" => tag.key = reader.opt_string()?,
            "Value" => tag.value = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(tag)
}

/// Checks tags; each needs a key and a value.
pub(super) fn check_tags(tags: Vec<RawTag>) -> Result<Vec<Tag>, Error> {
    let mut violations = Violations::new();
    for (place, tag) in tags.iter().enumerate() {
        if tag.key.is_none() {
            violations.null(&format!("tags.{}.member.key", place + 1));
        }
        if tag.value.is_none() {
            violations.null(&format!("tags.{}.member.value", place + 1));
        }
    }
    violations.finish()?;
    if tags.len() > TAGS_MAX {
        return Err(request::too_many_tags());
    }
    tags.into_iter().map(check_tag).collect()
}

fn check_tag(tag: RawTag) -> Result<Tag, Error> {
    let (key, value) = (tag.key.unwrap_or_default(), tag.value.unwrap_or_default());
    if !(1..=TAG_KEY_LENGTH_MAX).contains(&key.chars().count()) {
        return Err(request::tag_key_length());
    }
    if value.chars().count() > TAG_VALUE_LENGTH_MAX {
        return Err(request::tag_value_length());
    }
    Ok(Tag { key, value })
}

fn read(reader: &mut Reader<'_>) -> Result<Raw, Error> {
    let mut raw = Raw::default();
    reader.opt_structure("ResourceInput", |reader, name| {
        match name {
            "TableName" => raw.table = reader.opt_string()?,
            "ResourceArn" => raw.arn = reader.opt_string()?,
            "NextToken" => raw.next = reader.opt_string()?,
            "Tags" => raw.tags = checked_list(reader, raw_tag)?,
            "TagKeys" => raw.tag_keys = reader.opt_strings()?,
            "TimeToLiveSpecification" => raw.expiry = expiry(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

fn expiry(reader: &mut Reader<'_>) -> Result<Option<RawExpiry>, Error> {
    let (mut attribute, mut enabled) = (None, None);
    let present = reader.opt_structure("TimeToLiveSpecification", |reader, name| {
        match name {
            "AttributeName" => attribute = reader.opt_string()?,
            "Enabled" => enabled = reader.opt_bool()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some((attribute, enabled)))
}

fn check_table(violations: &mut Violations, table: Option<&str>) {
    match table {
        None => violations.null("tableName"),
        Some("") => violations.short("", "tableName", 1),
        Some(table) if table_name::name_in_arn(table).is_some() => {}
        Some(table) => table_name::check_name(violations, table, "tableName"),
    }
}

fn check_expiry(violations: &mut Violations, raw: &Raw) {
    let Some((attribute, enabled)) = &raw.expiry else {
        return violations.null("timeToLiveSpecification");
    };
    if enabled.is_none() {
        violations.null("timeToLiveSpecification.enabled");
    }
    let member = "timeToLiveSpecification.attributeName";
    match attribute.as_deref() {
        None => violations.null(member),
        Some("") => violations.short("", member, 1),
        Some(name) if name.len() > KEY_NAME_BYTES_MAX => violations.long(name, member, KEY_NAME_BYTES_MAX),
        Some(_) => {}
    }
}

fn check_arn(arn: Option<String>) -> Result<String, Error> {
    let arn = arn.filter(|arn| !arn.is_empty()).ok_or_else(request::arn_missing)?;
    if table_name::name_in_arn(&arn).is_none() {
        return Err(request::arn_invalid(&arn));
    }
    Ok(arn)
}
