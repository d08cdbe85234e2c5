//! Patterns as calls: arguments, result, refusals and documentation.

use keyform_check::Checked;
use keyform_check::cost;
use keyform_check::cost::text::number;
use keyform_check::explain::words;
use keyform_check::surface::{self, Pattern};
use keyform_language::document::ast::{Number, StreamView};
use keyform_language::plan::ReadPlan;
use keyform_language::scalar::generated::TEXT;
use keyform_language::schema::{Read, ReadId, Result as ReadResult, Type, Write};
use keyform_language::span::Spanned;

use super::kind::{Kind, Kinds};
use super::lines;
use super::object::ObjectId;

/// Pattern that external callers can call.
pub(crate) struct Call<'a> {
    /// Name in the model and in the URL path.
    pub(crate) name: &'a str,
    pub(crate) is_write: bool,
    /// Lines of the author's documentation.
    pub(crate) summary: Vec<String>,
    /// Paragraphs of documentation: the author's, the request and its cost.
    pub(crate) docs: Vec<Vec<String>>,
    /// In declaration order.
    pub(crate) arguments: Vec<Argument<'a>>,
    pub(crate) returns: Returns,
    /// Names of its refusals.
    pub(crate) outcomes: Vec<String>,
    /// Result as a live read; `None` if the read cannot be followed.
    pub(crate) live: Option<Live>,
}

/// Argument of a call.
pub(crate) struct Argument<'a> {
    /// Name in the model and on the wire.
    pub(crate) name: &'a str,
    /// Documentation of the field that it corresponds to.
    pub(crate) docs: Vec<String>,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Always sent as JSON in a query string, whatever its value.
    pub(crate) as_json: bool,
}

/// Result of a call.
pub(crate) enum Returns {
    Nothing,
    /// Exactly one item.
    One(ObjectId),
    /// At most one item.
    Maybe(ObjectId),
    /// All items in one response.
    Items(ObjectId),
    /// Items in pages.
    Pages(ObjectId),
    /// Number of items.
    Count,
    /// Items of several entities, by entity name.
    Parts(Vec<(String, ObjectId, Number)>),
}

/// Result of a live read.
pub(crate) enum Live {
    /// At most one item, of the named entity.
    One(String, ObjectId),
    /// Items of these entities, by entity name.
    Items(Vec<(String, ObjectId)>),
    /// Number of items.
    Count,
}

impl Returns {
    /// Returns the objects that the result consists of.
    pub(super) fn objects(&self) -> Vec<ObjectId> {
        match self {
            Self::Nothing | Self::Count => Vec::new(),
            Self::One(object) | Self::Maybe(object) | Self::Items(object) | Self::Pages(object) => vec![*object],
            Self::Parts(parts) => parts.iter().map(|(_, object, _)| *object).collect(),
        }
    }
}

impl<'a> Call<'a> {
    pub(super) fn of(checked: &'a Checked, pattern: Pattern<'a>, kinds: &mut Kinds<'a>) -> Self {
        let model = &checked.model;
        let mut arguments = Vec::new();
        for argument in pattern.arguments(model) {
            arguments.push(self::argument(checked, pattern, &argument, kinds));
        }
        let (docs, returns) = match pattern {
            Pattern::Read(read) => (read_docs(checked, read), read_returns(read, pattern, kinds, checked)),
            Pattern::Write(write) => (write_docs(checked, write), write_returns(write, pattern, kinds, checked)),
        };
        let live = match pattern {
            Pattern::Read(read) => live(checked, read, &returns),
            Pattern::Write(_) => None,
        };
        Self {
            name: pattern.name(),
            is_write: matches!(pattern, Pattern::Write(_)),
            summary: match pattern {
                Pattern::Read(read) => lines(&read.docs),
                Pattern::Write(write) => lines(&write.docs),
            },
            docs: docs.into_iter().filter(|paragraph| !paragraph.is_empty()).collect(),
            arguments,
            returns,
            outcomes: outcomes(checked, pattern),
            live,
        }
    }
}

/// Returns the live result. A read can be followed if the stream of its table has both images.
fn live(checked: &Checked, read: &Read, returns: &Returns) -> Option<Live> {
    let plan = read_plan(checked, read)?;
    let Some(Spanned { value: StreamView::NewAndOld, .. }) = &checked.model.table(plan.table).stream else {
        return None;
    };
    let entity = || Some(checked.model.entity(*plan.returns.first()?).name.clone());
    match returns {
        Returns::Nothing => None,
        Returns::Count => Some(Live::Count),
        Returns::One(object) | Returns::Maybe(object) if plan.unique => Some(Live::One(entity()?, *object)),
        Returns::One(object) | Returns::Maybe(object) | Returns::Items(object) | Returns::Pages(object) => {
            Some(Live::Items(vec![(entity()?, *object)]))
        }
        Returns::Parts(parts) => {
            Some(Live::Items(parts.iter().map(|(name, object, _)| (name.clone(), *object)).collect()))
        }
    }
}

fn read_plan<'a>(checked: &'a Checked, read: &Read) -> Option<&'a ReadPlan> {
    let number = checked.model.reads.iter().position(|other| other.name == read.name)?;
    checked.plans.read(ReadId(number))
}

/// Returns the names of all refusals, including that of a conflict.
fn outcomes(checked: &Checked, pattern: Pattern<'_>) -> Vec<String> {
    let mut names = pattern.outcomes(checked);
    if matches!(pattern, Pattern::Write(_)) && !names.iter().any(|name| name == surface::CONFLICT) {
        names.push(surface::CONFLICT.to_owned());
    }
    names
}

fn argument<'a>(
    checked: &'a Checked,
    pattern: Pattern<'a>,
    argument: &surface::Argument<'a>,
    kinds: &mut Kinds<'a>,
) -> Argument<'a> {
    let parameter = argument.parameter;
    let is_read = matches!(pattern, Pattern::Read(_));
    let place = format!("{} {}", pattern.name(), argument.name);
    let known = parameter.field.filter(|_| !parameter.declared).map(|field| kinds.field(field));
    let of_field = known.map(|known| match argument.kind {
        Type::List(..) if parameter.test == keyform_language::schema::Test::In => Kind::List(Box::new(known)),
        _ => known,
    });
    let kind = match of_field.unwrap_or_else(|| kinds.of(&argument.kind, &place)) {
        // The prefix of an id is not an id.
        Kind::Id(_) | Kind::OneOf(_) | Kind::Scalar(_)
            if parameter.test == keyform_language::schema::Test::Begins && argument.kind.is_text() =>
        {
            Kind::Scalar(&TEXT)
        }
        // A parameter that only a key template knows is a string.
        Kind::Json if is_read && matches!(argument.kind.resolved(), Type::Unknown) => Kind::Scalar(&TEXT),
        kind => kind,
    };
    let docs = parameter.field.map(|(entity, field)| checked.model.entity(entity).field(field).docs.clone());
    let as_json = is_read && holds_json(&kind);
    Argument { name: argument.name, docs: docs.unwrap_or_default(), kind, required: argument.required, as_json }
}

fn holds_json(kind: &Kind) -> bool {
    match kind {
        Kind::Json => true,
        Kind::List(of) => holds_json(of),
        _ => false,
    }
}

fn read_returns<'a>(read: &'a Read, pattern: Pattern<'a>, kinds: &mut Kinds<'a>, checked: &'a Checked) -> Returns {
    let model = &checked.model;
    let selected: Option<Vec<String>> = read.select.as_ref().map(|selected| {
        selected.iter().map(|((entity, field), _)| model.entity(*entity).field(*field).name.clone()).collect()
    });
    let ReadResult::Parts(parts) = &read.result else { return Returns::Count };
    let mut found: Vec<(String, ObjectId, Number)> = Vec::new();
    for (entity, number, _) in parts {
        let Some(entity) = *entity else { continue };
        let name = &model.entity(entity).name;
        let object = match &selected {
            Some(only) if parts.len() == 1 => kinds.entity(entity, &format!("{} item", read.name), Some(only)),
            Some(only) => kinds.entity(entity, &format!("{} {name}", read.name), Some(only)),
            None => kinds.entity(entity, name, None),
        };
        found.push((name.clone(), object, *number));
    }
    match found.as_slice() {
        [] => Returns::Nothing,
        [(_, object, Number::One)] => Returns::One(*object),
        [(_, object, Number::Maybe)] => Returns::Maybe(*object),
        [(_, object, Number::Many)] if pattern.has_pages() => Returns::Pages(*object),
        [(_, object, Number::Many)] => Returns::Items(*object),
        _ => Returns::Parts(found),
    }
}

fn write_returns<'a>(write: &'a Write, pattern: Pattern<'a>, kinds: &mut Kinds<'a>, checked: &'a Checked) -> Returns {
    let Some(entity) = write.returned_entity() else { return Returns::Nothing };
    let object = kinds.entity(entity, &checked.model.entity(entity).name, None);
    if pattern.may_be_none() { Returns::Maybe(object) } else { Returns::One(object) }
}

fn read_docs(checked: &Checked, read: &Read) -> Vec<Vec<String>> {
    let mut docs = vec![lines(&read.docs)];
    if let Some(plan) = read_plan(checked, read) {
        let cost = cost::read::read(&checked.model, read, plan);
        let mut how = words::of_read(&checked.model, read, plan);
        how.push(units(cost.units, "read", cost.assumed));
        docs.push(how.iter().map(|line| bullet(line)).collect());
    }
    docs
}

fn write_docs(checked: &Checked, write: &Write) -> Vec<Vec<String>> {
    let mut docs = vec![lines(&write.docs)];
    let number_of = checked.model.writes.iter().position(|other| other.name == write.name);
    if let Some(Some(plan)) = number_of.and_then(|number| checked.plans.writes.get(number)) {
        let cost = cost::write::write(&checked.model, write, plan);
        let mut how = words::of_write(&checked.model, write, plan);
        how.push(units(cost.units + cost.index_units, "write", cost.assumed));
        docs.push(how.iter().map(|line| bullet(line)).collect());
    }
    docs
}

/// Formats a list item. Keys are formatted as code, so that documentation tools ignore their braces.
fn bullet(line: &str) -> String {
    match line.strip_prefix("- ") {
        Some(inner) => format!("  - {inner}"),
        None if line.contains('"') && !line.contains('`') => format!("- `{line}`"),
        None => format!("- {line}"),
    }
}

fn units(units: f64, sort: &str, assumed: bool) -> String {
    let about = if assumed { "about " } else { "" };
    format!("{about}{} {sort} unit{}", number(units), if units == 1.0 { "" } else { "s" })
}
