//! Responses of the stream operations.

use keyform_core::operation::{ChangeRecord, GetRecordsOutput, ListStreamsOutput, Shard, StreamDescription};
use keyform_core::table::Status;

use super::table::key_schema;
use crate::json::Writer;
use crate::value::write_item;

/// Writes the ListStreams response.
pub(super) fn list(out: &mut Writer<'_>, output: &ListStreamsOutput) {
    out.name("Streams");
    out.array(&output.streams, |out, stream| {
        out.object(|out| {
            out.string_member("StreamArn", &stream.arn);
            out.string_member("TableName", &stream.table);
            out.string_member("StreamLabel", &stream.label);
        });
    });
    if let Some(last) = &output.last {
        out.string_member("LastEvaluatedStreamArn", last);
    }
}

/// Writes the DescribeStream response.
pub(super) fn describe(out: &mut Writer<'_>, description: &StreamDescription) {
    out.object_member("StreamDescription", |out| {
        out.string_member("StreamArn", &description.arn);
        out.string_member("StreamLabel", &description.label);
        out.string_member("StreamStatus", stream_status(description.status));
        out.string_member("StreamViewType", description.view.name());
        out.moment_member("CreationRequestDateTime", description.created_ms);
        out.string_member("TableName", &description.table);
        key_schema(out, &description.key);
        out.name("Shards");
        out.array(&description.shards, |out, shard| out.object(|out| write_shard(out, shard)));
        if let Some(last) = &description.last_shard {
            out.string_member("LastEvaluatedShardId", last);
        }
    });
}

/// Writes the GetRecords response.
pub(super) fn records(out: &mut Writer<'_>, output: &GetRecordsOutput) {
    out.name("Records");
    out.array(&output.records, |out, record| out.object(|out| write_record(out, record, &output.region)));
    if let Some(next) = &output.next {
        out.string_member("NextShardIterator", next);
    }
}

fn stream_status(status: Status) -> &'static str {
    match status {
        Status::Creating => "ENABLING",
        Status::Active => "ENABLED",
        Status::Updating => "DISABLING",
        Status::Deleting => "DISABLED",
    }
}

fn write_shard(out: &mut Writer<'_>, shard: &Shard) {
    out.string_member("ShardId", &shard.id);
    if let Some(parent) = &shard.parent {
        out.string_member("ParentShardId", parent);
    }
    out.object_member("SequenceNumberRange", |out| {
        out.plain_member("StartingSequenceNumber", shard.start);
        if let Some(end) = shard.end {
            out.plain_member("EndingSequenceNumber", end);
        }
    });
}

fn write_record(out: &mut Writer<'_>, record: &ChangeRecord, region: &str) {
    out.string_member("eventID", &record.id);
    out.string_member("eventName", record.kind.name());
    out.string_member("eventVersion", "1.1");
    out.string_member("eventSource", "aws:dynamodb");
    out.string_member("awsRegion", region);
    out.object_member("dynamodb", |out| write_change(out, record));
    if record.identity.is_some() {
        out.object_member("userIdentity", |out| {
            out.string_member("PrincipalId", "dynamodb.amazonaws.com");
            out.string_member("Type", "Service");
        });
    }
}

fn write_change(out: &mut Writer<'_>, record: &ChangeRecord) {
    out.whole_member("ApproximateCreationDateTime", record.at_ms / 1000);
    out.name("Keys");
    write_item(out, &record.keys);
    for (member, image) in [("NewImage", &record.new), ("OldImage", &record.old)] {
        if let Some(image) = image {
            out.name(member);
            write_item(out, image);
        }
    }
    out.plain_member("SequenceNumber", record.sequence);
    out.whole_member("SizeBytes", record.size_bytes);
    out.string_member("StreamViewType", record.view.name());
}
