//! Resolution: implicit keys, types behind references, and sources of fields.

use keyform_language::document::parse;
use keyform_language::scalar::Scalar;
use keyform_language::schema::{
    Change, ChangeKind, Entity, EntityKey, ExprKind, Model, Origin, Permission, Type, ValuePath, resolve,
};

const MODEL: &str = r#"
model shop

table Shop {
  key   pk, at
  index byType (type, at)
  index byOwner (ownerId, pk)
  index gsi1 (gsi1pk, gsi1sk)
  tag   type
}

shape Stamped {
  updatedAt: timestamp updated
}

entity Owner in Shop with Stamped {
  key "OWNER#{id}", "{since}"

  id:    ulid = ulid()
  since: epoch_ms
  title: string
}

entity Order in Shop with Stamped {
  gsi1 "STATUS#{status}"

  pk:      string(1..40)
  at:      epoch_ms
  ownerId: ref Owner
  name:    copy Owner.title
  status:  "open" | "paid" = "open"
  version: int version
}

write place(pk, at, ownerId, name) -> Order {
  create Order {}
}

write rename(pk, at, name) -> Order {
  update Order(pk, at) { status = "paid" }
}
"#;

fn key(model: &Model, entity: &Entity, key: &EntityKey) -> String {
    let name = key.index.zip(entity.table).map_or("key", |(index, table)| &model.table(table).index_at(index).name);
    let part = |part: &keyform_language::schema::KeyPart| {
        format!("{}={}", part.attribute, part.template.text(|field| &entity.field(field).name))
    };
    let side = |parts: &[_]| parts.iter().map(part).collect::<Vec<_>>().join(" ");
    let written = if key.written { "" } else { " implied" };
    format!("{name}: {} | {}{written}", side(&key.partition), side(&key.sort))
}

fn keys(model: &Model, name: &str) -> Vec<String> {
    let entity = model.entities.iter().find(|entity| entity.name == name).expect("the model has it");
    entity.key.iter().chain(&entity.indexes).map(|it| key(model, entity, it)).collect()
}

fn change(entity: &Entity, change: &Change) -> String {
    let field = change.field.map_or("?", |field| &entity.field(field).name);
    let value = match &change.kind {
        ChangeKind::Set(value) => match &value.kind {
            ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) => format!("= parameter {number}"),
            ExprKind::Text(text) => format!("= \"{text}\""),
            ExprKind::Number(number) => format!("= {number}"),
            ExprKind::Call { function, .. } => format!("= {function}()"),
            other => format!("= {other:?}"),
        },
        ChangeKind::Increase(_) => "raised".to_owned(),
        other => format!("{other:?}"),
    };
    format!("{field} {value}{}", if change.written { " written" } else { "" })
}

fn changes(model: &Model, write: usize) -> Vec<String> {
    let action = model.writes[write].actions()[0];
    let entity = model.entity(action.entity.expect("the entity is known"));
    action.changes.iter().map(|it| change(entity, it)).collect()
}

fn model() -> Model {
    let (document, mistakes) = parse(MODEL);
    let (model, found) = resolve(&document);
    assert!(mistakes.is_empty() && found.is_empty(), "{mistakes:#?}{found:#?}");
    model
}

#[test]
fn keys_are_filled_by_lines_fields_the_tag_and_the_own_key() {
    let model = model();
    assert_eq!(
        keys(&model, "Order"),
        [
            "key: pk={pk} | at={at} implied",
            "byType: type=Order | at={at} implied",
            "byOwner: ownerId={ownerId} | pk={pk} implied",
            "gsi1: gsi1pk=STATUS#{status} | ",
        ]
    );
    assert_eq!(keys(&model, "Owner"), ["key: pk=OWNER#{id} | at={since}", "byType: type=Owner | at={since} implied"]);
}

#[test]
fn a_key_attribute_is_a_number_where_only_numbers_fill_it() {
    let table = &model().tables[0];
    let kinds: Vec<String> =
        table.partition.iter().chain(&table.sort).map(|it| format!("{} {:?}", it.name, it.kind)).collect();
    assert_eq!(kinds, ["pk String", "at Number"]);
}

#[test]
fn references_have_the_type_of_the_id_they_name() {
    let model = model();
    let order = &model.entities[1];
    let kind = |name| order.field(order.field_named(name).expect("a field")).kind.resolved();
    assert!(matches!(kind("ownerId"), Type::Scalar(Scalar::Ulid, _)));
    assert!(matches!(kind("name"), Type::Scalar(Scalar::String, _)));
}

#[test]
fn fields_get_their_values_from_parameters_defaults_and_flags() {
    let model = model();
    let created = [
        "updatedAt = now()",
        "pk = parameter 0",
        "at = parameter 1",
        "ownerId = parameter 2",
        "name = parameter 3",
        "status = \"open\"",
        "version = 1",
    ];
    assert_eq!(changes(&model, 0), created);
    let updated = ["status = \"paid\" written", "updatedAt = now()", "version raised", "name = parameter 2"];
    assert_eq!(changes(&model, 1), updated);
}

#[test]
fn an_expression_reaches_from_its_first_parenthesis_to_its_last() {
    let text = "model m\n\nread r(a) -> [E] allow (a = 1 or a = 2) and (a = 3 or a = 4)\n";
    let (document, _) = parse(text);
    let (model, _) = resolve(&document);
    let Some(Permission::When(condition)) = &model.reads[0].allow else { panic!("no condition") };
    assert_eq!(&text[condition.span.start..condition.span.end], "(a = 1 or a = 2) and (a = 3 or a = 4)");
}
