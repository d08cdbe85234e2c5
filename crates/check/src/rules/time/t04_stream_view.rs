//! T04: a consumer needs more than the table's stream contains.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{Event, Image, StreamView};
use keyform_language::schema::{Consumer, Entity, Table, Target};
use keyform_language::span::Spanned;

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T04"),
    severity: Severity::Error,
    title: "a consumer needs more than the stream carries",
    page: include_str!("../../../../../docs/rules/T04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for consumer in &context.model.consumers {
        let Some(entity) = consumer.entity.map(|id| context.model.entity(id)) else { continue };
        let Some(table) = entity.table.map(|id| context.model.table(id)) else { continue };
        findings.extend(image(consumer, entity, table));
        if ttl_field(context.model, entity).is_some() {
            findings.extend(expiry(consumer, entity));
        }
    }
}

fn image(consumer: &Consumer, entity: &Entity, table: &Table) -> Option<Diagnostic> {
    let Some(Spanned { value: view, span }) = table.stream else {
        return Some(
            Diagnostic::error(
                RULE.code,
                consumer.span,
                format!("table {} has no stream, so changes of {} are not delivered", table.name, entity.name),
            )
            .also(table.name_span, "no `stream`")
            .help(format!("add `stream new_and_old` to table {}", table.name)),
        );
    };
    let missing = needed(consumer, entity).into_iter().find(|image| !carries(view, *image))?;
    let (image, fix) = match missing {
        Image::Old => ("before", "old"),
        Image::New => ("after", "new"),
    };
    let wider = if matches!(view, StreamView::Keys) { fix } else { "new_and_old" };
    Some(
        Diagnostic::error(
            RULE.code,
            consumer.span,
            format!("this handler needs the item {image} the change, which the stream does not carry"),
        )
        .also(span, "the view of the stream")
        .help(format!("write `stream {wider}`")),
    )
}

fn carries(view: StreamView, image: Image) -> bool {
    match view {
        StreamView::NewAndOld => true,
        StreamView::New => image == Image::New,
        StreamView::Old => image == Image::Old,
        StreamView::Keys => false,
    }
}

/// Returns the images that a consumer declares and those that a live read needs: the new image to show an inserted or
/// modified item, and the old image to find the arguments of a removed one, unless the key contains them.
fn needed(consumer: &Consumer, entity: &Entity) -> Vec<Image> {
    let mut images = consumer.needs.clone();
    if let Target::Live(_, arguments) = &consumer.target {
        let comes = consumer.events.iter().any(|event| matches!(event, Event::Insert | Event::Modify));
        let goes = consumer.events.iter().any(|event| matches!(event, Event::Remove | Event::Expire));
        let keys = entity.key_fields();
        if comes {
            images.push(Image::New);
        }
        if goes && arguments.iter().any(|argument| !keys.contains(argument)) {
            images.push(Image::Old);
        }
    }
    images
}

fn expiry(consumer: &Consumer, entity: &Entity) -> Option<Diagnostic> {
    let removes = consumer.events.contains(&Event::Remove);
    let expires = consumer.events.contains(&Event::Expire);
    (removes && !expires).then(|| {
        Diagnostic::warning(
            RULE.code,
            consumer.span,
            format!("items of {} also expire, but this handler only receives deletes by callers", entity.name),
        )
        .help("add `expire` to handle expired items too, or allow this with a reason")
    })
}
