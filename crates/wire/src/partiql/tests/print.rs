//! Formats statements in a short form for tests.

use keyform_core::AttributeValue;
use keyform_core::expression::{Condition, Operand, Path, PathElement, SetValue, Update, UpdateOperand};
use keyform_core::operation::ReturnValues;
use keyform_core::statement::{SelectStatement, Statement};

pub(super) fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Select(parts) => format!("select {}", select(parts)),
        Statement::Exists(parts) => format!("exists {}", select(parts)),
        Statement::Insert { table, item } => format!("insert {table} {}", value(&AttributeValue::M(item.clone()))),
        Statement::Update { table, update: changes, condition: test, returning } => {
            format!("update {table} {} where {}{}", update(changes), condition(test), returned(*returning))
        }
        Statement::Delete { table, condition: test, returning } => {
            format!("delete {table} where {}{}", condition(test), returned(*returning))
        }
    }
}

fn select(select: &SelectStatement) -> String {
    let columns = select.columns.as_ref().map_or("*".to_owned(), |columns| list(columns, path));
    let index = select.index.as_ref().map_or(String::new(), |index| format!(".{index}"));
    let test = select.condition.as_ref().map_or(String::new(), |test| format!(" where {}", condition(test)));
    let order = list(&select.order, |term| term.attribute.clone() + if term.descending { " desc" } else { "" });
    let order = if order.is_empty() { order } else { format!(" order {order}") };
    format!("{columns} from {}{index}{test}{order}", select.table)
}

fn returned(returning: ReturnValues) -> String {
    if returning == ReturnValues::None { String::new() } else { format!(" returning {returning:?}") }
}

fn list<T>(elements: &[T], print: impl Fn(&T) -> String) -> String {
    elements.iter().map(print).collect::<Vec<_>>().join(", ")
}

fn path(path: &Path) -> String {
    let elements = path.elements.iter().map(|element| match element {
        PathElement::Attribute(name) => name.clone(),
        PathElement::Index(place) => place.to_string(),
    });
    elements.collect::<Vec<_>>().join("/")
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Path(place) => path(place),
        Operand::Value(constant) => value(&constant.to_tree()),
        Operand::Size(place) => format!("size({})", path(place)),
    }
}

fn condition(test: &Condition) -> String {
    match test {
        Condition::And(sides) => format!("and({})", list(sides, condition)),
        Condition::Or(sides) => format!("or({})", list(sides, condition)),
        Condition::Not(inner) => format!("not {}", condition(inner)),
        Condition::Compare { left, comparator, right } => {
            format!("({} {} {})", operand(left), comparator.symbol(), operand(right))
        }
        Condition::Between { operand: one, low, high } => {
            format!("({} between {}, {})", operand(one), operand(low), operand(high))
        }
        Condition::In { operand: one, candidates } => format!("({} in {})", operand(one), list(candidates, operand)),
        Condition::AttributeExists(place) => format!("exists({})", path(place)),
        Condition::AttributeNotExists(place) => format!("missing({})", path(place)),
        Condition::AttributeType(place, kind) => format!("type({}, {kind})", path(place)),
        Condition::BeginsWith(one, two) => format!("begins_with({}, {})", operand(one), operand(two)),
        Condition::Contains(one, two) => format!("contains({}, {})", operand(one), operand(two)),
    }
}

fn update(update: &Update) -> String {
    let set = update.set.iter().map(|action| format!("set {} = {}", path(&action.path), assigned(&action.value)));
    let remove = update.remove.iter().map(|place| format!("remove {}", path(place)));
    let add = update.add.iter().map(|(place, set)| format!("add {} {}", path(place), value(&set.to_tree())));
    let delete = update.delete.iter().map(|(place, set)| format!("delete {} {}", path(place), value(&set.to_tree())));
    set.chain(remove).chain(add).chain(delete).collect::<Vec<_>>().join("; ")
}

fn assigned(value: &SetValue) -> String {
    match value {
        SetValue::Operand(one) => update_operand(one),
        SetValue::Plus(one, two) => format!("{} + {}", update_operand(one), update_operand(two)),
        SetValue::Minus(one, two) => format!("{} - {}", update_operand(one), update_operand(two)),
    }
}

fn update_operand(operand: &UpdateOperand) -> String {
    match operand {
        UpdateOperand::Path(place) => path(place),
        UpdateOperand::Value(constant) => value(&constant.to_tree()),
        UpdateOperand::IfNotExists(place, otherwise) => format!("or({}, {})", path(place), update_operand(otherwise)),
        UpdateOperand::ListAppend(one, two) => format!("append({}, {})", update_operand(one), update_operand(two)),
    }
}

fn value(value_: &AttributeValue) -> String {
    match value_ {
        AttributeValue::S(text) => format!("'{text}'"),
        AttributeValue::N(number) => number.to_string(),
        AttributeValue::B(bytes) => format!("{bytes:?}"),
        AttributeValue::Bool(flag) => flag.to_string(),
        AttributeValue::Null => "null".to_owned(),
        AttributeValue::M(map) => {
            let entries: Vec<String> = map.iter().map(|(name, inner)| format!("{name}: {}", value(inner))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        AttributeValue::L(values) => format!("[{}]", list(values, value)),
        AttributeValue::Ss(set) => {
            format!("<<{}>>", set.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", "))
        }
        AttributeValue::Ns(set) => {
            format!("<<{}>>", set.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        AttributeValue::Bs(set) => format!("{set:?}"),
    }
}
