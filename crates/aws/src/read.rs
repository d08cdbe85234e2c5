//! Query and Scan.

use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::types;
use keyform_core::operation::{PageOutput, Query, Scan, Segment, Select};
use keyform_core::{Attributes, Error};

use crate::expressions::Expressions;
use crate::value::{SdkAttributes, attributes_to_sdk};
use crate::{Remote, capacity, failure, value};

impl Remote {
    pub(crate) async fn query(&self, query: Query) -> Result<PageOutput, Error> {
        let mut expressions = Expressions::default();
        let request = self
            .client
            .query()
            .table_name(query.table)
            .set_index_name(query.index)
            .key_condition_expression(expressions.key_condition(&query.key))
            .set_filter_expression(expressions.condition(query.filter.as_ref()))
            .set_projection_expression(expressions.projection(query.projection.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_select(query.select.map(select))
            .set_limit(query.limit.map(limit))
            .consistent_read(query.consistent)
            .scan_index_forward(!query.reverse)
            .set_exclusive_start_key(start(query.start.as_ref()))
            .set_return_consumed_capacity(capacity::wanted(query.return_capacity));
        let output = request.send().await.map_err(failure::service_error)?;
        page(Page::from(output), query.select)
    }

    pub(crate) async fn scan(&self, scan: Scan) -> Result<PageOutput, Error> {
        let mut expressions = Expressions::default();
        let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let request = self
            .client
            .scan()
            .table_name(scan.table)
            .set_index_name(scan.index)
            .set_filter_expression(expressions.condition(scan.filter.as_ref()))
            .set_projection_expression(expressions.projection(scan.projection.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_select(scan.select.map(select))
            .set_limit(scan.limit.map(limit))
            .consistent_read(scan.consistent)
            .set_segment(scan.segment.map(|segment: Segment| number(segment.number)))
            .set_total_segments(scan.segment.map(|segment: Segment| number(segment.total)))
            .set_exclusive_start_key(start(scan.start.as_ref()))
            .set_return_consumed_capacity(capacity::wanted(scan.return_capacity));
        let output = request.send().await.map_err(failure::service_error)?;
        page(Page::from(output), scan.select)
    }
}

fn select(select: Select) -> types::Select {
    match select {
        Select::AllAttributes => types::Select::AllAttributes,
        Select::AllProjectedAttributes => types::Select::AllProjectedAttributes,
        Select::SpecificAttributes => types::Select::SpecificAttributes,
        Select::Count => types::Select::Count,
    }
}

fn limit(limit: usize) -> i32 {
    i32::try_from(limit).unwrap_or(i32::MAX)
}

fn start(start: Option<&Attributes>) -> Option<SdkAttributes> {
    start.map(attributes_to_sdk)
}

/// Common part of the responses of Query and Scan.
struct Page {
    items: Option<Vec<SdkAttributes>>,
    count: i32,
    scanned: i32,
    last_key: Option<SdkAttributes>,
    capacity: Option<types::ConsumedCapacity>,
}

impl From<QueryOutput> for Page {
    fn from(output: QueryOutput) -> Self {
        Self {
            items: output.items,
            count: output.count,
            scanned: output.scanned_count,
            last_key: output.last_evaluated_key,
            capacity: output.consumed_capacity,
        }
    }
}

impl From<ScanOutput> for Page {
    fn from(output: ScanOutput) -> Self {
        Self {
            items: output.items,
            count: output.count,
            scanned: output.scanned_count,
            last_key: output.last_evaluated_key,
            capacity: output.consumed_capacity,
        }
    }
}

fn page(page: Page, select: Option<Select>) -> Result<PageOutput, Error> {
    let count = |count: i32| usize::try_from(count).unwrap_or(0);
    let items = if select == Some(Select::Count) { None } else { Some(value::items(&page.items.unwrap_or_default())?) };
    Ok(PageOutput {
        items,
        count: count(page.count),
        scanned: count(page.scanned),
        last_key: value::optional_item(page.last_key.as_ref())?,
        capacity: page.capacity.map(capacity::consumed),
    })
}
