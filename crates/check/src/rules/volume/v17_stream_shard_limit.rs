//! V17: a stream produces more than a shard can deliver.

use crate::check::{Context, Rule};
use crate::cost::report::top_share;
use crate::cost::text::bytes;
use crate::cost::{per_second, size};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::StreamView;
use keyform_language::schema::{Model, TableId};
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("V17"),
    severity: Severity::Warning,
    title: "a stream carries more than a shard allows",
    page: include_str!("../../../../../docs/rules/V17.md"),
    find,
};

/// Read throughput of a shard, in bytes per second.
const SHARD_BYTES_MAX: f64 = 2.0 * 1024.0 * 1024.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (number, table) in context.model.tables.iter().enumerate() {
        let Some(Spanned { value: view, span }) = table.stream else { continue };
        let rate = busiest(context.model, TableId(number), view);
        if rate > SHARD_BYTES_MAX {
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    span,
                    format!(
                        "the busiest partition of {} writes {} a second to its stream",
                        table.name,
                        bytes(rate as u64)
                    ),
                )
                .label("a shard can be read at 2 MB a second")
                .note("A reader that falls behind loses records older than 24 hours.")
                .help(
                    "carry only the images that are needed (`stream new`), or move large attributes to another table",
                ),
            );
        }
    }
}

/// Returns the bytes per second of the stream records of the busiest partition.
fn busiest(model: &Model, table: TableId, view: StreamView) -> f64 {
    let images = match view {
        StreamView::NewAndOld => 2.0,
        StreamView::New | StreamView::Old => 1.0,
        StreamView::Keys => 0.1,
    };
    let mut sum = 0.0;
    for write in &model.writes {
        let Some(Spanned { value: rate, .. }) = write.rate else { continue };
        for id in write
            .actions()
            .iter()
            .filter_map(|action| action.entity)
            .filter(|&id| model.entity(id).table == Some(table))
        {
            let (item, _) = size::item(model, model.entity(id));
            sum += per_second(rate) * item as f64 * images * top_share(model, &[id]);
        }
    }
    sum
}
