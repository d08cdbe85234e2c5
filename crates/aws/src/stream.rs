//! Requests to DynamoDB Streams. AWS has a separate endpoint and client for them; other stores serve them at the same
//! address.

use std::collections::HashMap;

use aws_sdk_dynamodbstreams::primitives::DateTime;
use aws_sdk_dynamodbstreams::types::{self, AttributeValue as SdkValue};
use keyform_core::error::remote;
use keyform_core::operation::{
    ChangeKind, ChangeRecord, DescribeStream, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams,
    ListStreamsOutput, SequenceNumber, Shard, ShardPosition, StreamDescription, StreamListing, UserIdentity,
};
use keyform_core::table::{KeySchema, Status, StreamView};
use keyform_core::{AttributeValue, Attributes, Error, Item};

use crate::{Remote, failure};

/// Principal that deletes expired items, in the service's records.
const TIME_TO_LIVE: &str = "dynamodb.amazonaws.com";

impl Remote {
    pub(crate) async fn list_streams(&self, list: ListStreams) -> Result<ListStreamsOutput, Error> {
        let request = self
            .streams
            .list_streams()
            .set_table_name(list.table)
            .set_exclusive_start_stream_arn(list.start)
            .set_limit(list.limit.map(limit));
        let output = request.send().await.map_err(failure::streams_error)?;
        let streams = output.streams.unwrap_or_default().into_iter().map(listing).collect();
        Ok(ListStreamsOutput { streams, last: output.last_evaluated_stream_arn })
    }

    pub(crate) async fn describe_stream(&self, describe: DescribeStream) -> Result<StreamDescription, Error> {
        let children = describe.children_of.map(|shard| {
            types::ShardFilter::builder().r#type(types::ShardFilterType::ChildShards).shard_id(shard).build()
        });
        let request = self
            .streams
            .describe_stream()
            .stream_arn(describe.arn)
            .set_exclusive_start_shard_id(describe.start_shard)
            .set_limit(describe.limit.map(limit))
            .set_shard_filter(children);
        let output = request.send().await.map_err(failure::streams_error)?;
        let description = output.stream_description.ok_or_else(|| remote::malformed("no description of a stream"))?;
        described(description)
    }

    pub(crate) async fn get_shard_iterator(&self, get: GetShardIterator) -> Result<String, Error> {
        let (kind, sequence) = match get.position {
            ShardPosition::TrimHorizon => (types::ShardIteratorType::TrimHorizon, None),
            ShardPosition::Latest => (types::ShardIteratorType::Latest, None),
            ShardPosition::At(sequence) => (types::ShardIteratorType::AtSequenceNumber, Some(sequence)),
            ShardPosition::After(sequence) => (types::ShardIteratorType::AfterSequenceNumber, Some(sequence)),
        };
        let request = self
            .streams
            .get_shard_iterator()
            .stream_arn(get.arn)
            .shard_id(get.shard)
            .shard_iterator_type(kind)
            .set_sequence_number(sequence.map(|sequence| sequence.to_string()));
        let output = request.send().await.map_err(failure::streams_error)?;
        output.shard_iterator.ok_or_else(|| remote::malformed("no iterator of a shard"))
    }

    pub(crate) async fn get_records(&self, get: GetRecords) -> Result<GetRecordsOutput, Error> {
        let request = self.streams.get_records().shard_iterator(get.iterator).set_limit(get.limit.map(limit));
        let output = request.send().await.map_err(failure::streams_error)?;
        let sent = output.records.unwrap_or_default();
        let region = sent.first().and_then(|record| record.aws_region.clone()).unwrap_or_default();
        let records = sent.into_iter().map(record).collect::<Result<_, _>>()?;
        Ok(GetRecordsOutput { records, next: output.next_shard_iterator, region })
    }
}

fn limit(limit: usize) -> i32 {
    i32::try_from(limit).unwrap_or(i32::MAX)
}

fn listing(stream: types::Stream) -> StreamListing {
    StreamListing {
        arn: stream.stream_arn.unwrap_or_default(),
        table: stream.table_name.unwrap_or_default(),
        label: stream.stream_label.unwrap_or_default(),
    }
}

fn described(stream: types::StreamDescription) -> Result<StreamDescription, Error> {
    let is_on =
        matches!(stream.stream_status, Some(types::StreamStatus::Enabled | types::StreamStatus::Enabling) | None);
    Ok(StreamDescription {
        arn: stream.stream_arn.unwrap_or_default(),
        label: stream.stream_label.unwrap_or_default(),
        status: if is_on { Status::Active } else { Status::Deleting },
        view: view(stream.stream_view_type.as_ref())?,
        created_ms: millis(stream.creation_request_date_time),
        table: stream.table_name.unwrap_or_default(),
        key: key(&stream.key_schema.unwrap_or_default()),
        shards: stream.shards.unwrap_or_default().into_iter().map(shard).collect::<Result<_, _>>()?,
        last_shard: stream.last_evaluated_shard_id,
    })
}

fn shard(shard: types::Shard) -> Result<Shard, Error> {
    let range = shard.sequence_number_range;
    let start = range.as_ref().and_then(|range| range.starting_sequence_number.as_deref());
    let end = range.as_ref().and_then(|range| range.ending_sequence_number.as_deref());
    Ok(Shard {
        id: shard.shard_id.unwrap_or_default(),
        parent: shard.parent_shard_id.filter(|parent| !parent.is_empty()),
        start: start.map_or(Ok(SequenceNumber(0)), sequence)?,
        end: end.map(sequence).transpose()?,
    })
}

fn sequence(text: &str) -> Result<SequenceNumber, Error> {
    text.parse().map_err(|_| remote::malformed(&format!("`{text}` as a sequence number")))
}

fn view(view: Option<&types::StreamViewType>) -> Result<StreamView, Error> {
    let name = view.map(types::StreamViewType::as_str).unwrap_or_default();
    StreamView::from_name(name).ok_or_else(|| remote::malformed(&format!("`{name}` as a stream's view")))
}

fn key(elements: &[types::KeySchemaElement]) -> KeySchema {
    let of = |wanted: &types::KeyType| {
        let names = elements.iter().filter(|element| element.key_type() == wanted);
        names.map(|element| element.attribute_name().to_owned()).collect()
    };
    KeySchema { partition: of(&types::KeyType::Hash), sort: of(&types::KeyType::Range) }
}

fn millis(time: Option<DateTime>) -> u64 {
    time.and_then(|time| time.to_millis().ok()).and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default()
}

fn record(record: types::Record) -> Result<ChangeRecord, Error> {
    let change = record.dynamodb.ok_or_else(|| remote::malformed("a record without a change"))?;
    let name = record.event_name.as_ref().map(types::OperationType::as_str).unwrap_or_default();
    let kind =
        [ChangeKind::Insert, ChangeKind::Modify, ChangeKind::Remove].into_iter().find(|kind| kind.name() == name);
    let is_expiry = record.user_identity.is_some_and(|identity| identity.principal_id.as_deref() == Some(TIME_TO_LIVE));
    Ok(ChangeRecord {
        id: record.event_id.unwrap_or_default(),
        kind: kind.ok_or_else(|| remote::malformed(&format!("`{name}` as a kind of change")))?,
        at_ms: millis(change.approximate_creation_date_time),
        keys: item(change.keys.as_ref())?.ok_or_else(|| remote::malformed("a change without a key"))?,
        old: item(change.old_image.as_ref())?,
        new: item(change.new_image.as_ref())?,
        sequence: sequence(change.sequence_number.as_deref().unwrap_or_default())?,
        size_bytes: change.size_bytes.and_then(|size| u64::try_from(size).ok()).unwrap_or_default(),
        view: view(change.stream_view_type.as_ref())?,
        identity: is_expiry.then_some(UserIdentity::TimeToLive),
    })
}

fn item(attributes: Option<&HashMap<String, SdkValue>>) -> Result<Option<Item>, Error> {
    attributes.map(|attributes| Ok(Item::from(&tree(attributes)?))).transpose()
}

fn tree(attributes: &HashMap<String, SdkValue>) -> Result<Attributes, Error> {
    attributes.iter().map(|(name, value)| Ok((name.clone(), value_of(value)?))).collect()
}

/// Converts a value of the streams client, which has its own types.
fn value_of(value: &SdkValue) -> Result<AttributeValue, Error> {
    let number = |text: &String| text.parse().map_err(|_| remote::malformed(&format!("`{text}` as a number")));
    Ok(match value {
        SdkValue::S(text) => AttributeValue::S(text.clone()),
        SdkValue::N(text) => AttributeValue::N(number(text)?),
        SdkValue::B(blob) => AttributeValue::B(blob.as_ref().to_vec()),
        SdkValue::Bool(value) => AttributeValue::Bool(*value),
        SdkValue::Null(_) => AttributeValue::Null,
        SdkValue::M(attributes) => AttributeValue::M(tree(attributes)?),
        SdkValue::L(values) => AttributeValue::L(values.iter().map(value_of).collect::<Result<_, _>>()?),
        SdkValue::Ss(texts) => AttributeValue::Ss(texts.iter().cloned().collect()),
        SdkValue::Ns(texts) => AttributeValue::Ns(texts.iter().map(number).collect::<Result<_, _>>()?),
        SdkValue::Bs(blobs) => AttributeValue::Bs(blobs.iter().map(|blob| blob.as_ref().to_vec()).collect()),
        _ => return Err(remote::malformed("a value of a type that is not known")),
    })
}
