//! Lifecycle of tables: created, described, updated, tagged, deleted, and restored after a restart.

use crate::support::{TABLE, World, global_index, item, message, on_both, simple_table};
use keyform_core::operation::{
    DeleteTable, DescribeTable, GlobalIndexChange, ListTables, ListTagsOfResource, StreamChange, TagResource,
    TimeToLive, UntagResource, UpdateTable, UpdateTimeToLive,
};
use keyform_core::table::{
    BillingMode, KeySchema, LocalIndex, Projection, ScalarType, SseSpecification, Status, StreamView, TableClass,
    TableDescription, Tag, Throughput,
};

fn rich_table() -> keyform_core::operation::CreateTable {
    let mut request = simple_table();
    request.attributes.extend([("sk".to_owned(), ScalarType::N), ("l".to_owned(), ScalarType::B)]);
    request.attributes.insert("g".to_owned(), ScalarType::S);
    request.key.sort.push("sk".to_owned());
    request.local_indexes.push(LocalIndex {
        name: "local".to_owned(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: vec!["l".to_owned()] },
        projection: Projection::KeysOnly,
    });
    let mut global = global_index("global", "g");
    global.projection = Projection::Include(vec!["a".to_owned(), "b".to_owned()]);
    global.throughput = Some(Throughput { read: 3, write: 4 });
    request.global_indexes.push(global);
    request.billing = BillingMode::Provisioned;
    request.throughput = Some(Throughput { read: 1, write: 2 });
    request.stream = Some(StreamView::NewImage);
    request.sse = Some(SseSpecification { enabled: true, kms_key: None });
    request.class = Some(TableClass::StandardInfrequentAccess);
    request.deletion_protected = true;
    request.tags = vec![tag("b", "2"), tag("a", "1"), tag("b", "3")];
    request
}

fn tag(key: &str, value: &str) -> Tag {
    Tag { key: key.to_owned(), value: value.to_owned() }
}

fn names(world: &World, start: Option<&str>, limit: Option<usize>) -> (Vec<String>, Option<String>) {
    let request = ListTables { start: start.map(str::to_owned), limit };
    let output = world.run(request).unwrap();
    (output.tables, output.last)
}

fn delete(world: &World) -> Result<Box<TableDescription>, keyform_core::Error> {
    world.run(DeleteTable { table: TABLE.to_owned() })
}

#[test]
fn a_table_is_being_made_and_then_active_and_comes_back_after_a_restart() {
    on_both(|world| {
        let made = world.create(rich_table());
        assert_eq!(made.status, Status::Creating);
        assert_eq!(made.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/things");
        assert_eq!(made.global_indexes[0].status, Status::Creating);
        let before = world.describe();
        assert_eq!((before.status, before.global_indexes[0].status), (Status::Active, Status::Active));
        assert!(before.sse.as_ref().unwrap().kms_key_arn.starts_with("arn:aws:kms:us-east-1:000000000000:key/"));
        world.put(item([("pk", "a".into()), ("sk", 1.into()), ("g", "x".into())]));
        let counted = world.describe();
        assert_eq!((counted.item_count, counted.global_indexes[0].item_count), (1, 1));
        world.reopen();
        assert_eq!(world.describe(), counted);
        world.cut_power();
        world.sweep();
        assert_eq!(world.describe(), counted, "counted again after an unclean end");
        counted
    });
}

#[test]
fn tables_are_listed_in_pages() {
    on_both(|world| {
        for name in ["ccc", "aaa", "bbb"] {
            let mut request = simple_table();
            request.table = name.to_owned();
            world.create(request);
        }
        assert_eq!(names(world, None, Some(2)), (vec!["aaa".into(), "bbb".into()], Some("bbb".into())));
        assert_eq!(names(world, Some("bbb"), Some(2)), (vec!["ccc".into()], None));
        assert_eq!(names(world, Some("aab"), None), (vec!["bbb".into(), "ccc".into()], None));
    });
}

#[test]
fn a_deleted_table_is_gone_with_its_items() {
    on_both(|world| {
        world.create(simple_table());
        assert_eq!(message(world.run(simple_table())), "ResourceInUseException: Table already exists: things");
        world.put(item([("pk", "a".into())]));
        assert_eq!(delete(world).unwrap().status, Status::Deleting);
        assert_eq!(
            message(delete(world)),
            "ResourceNotFoundException: Requested resource not found: Table: things not found"
        );
        world.create(simple_table());
        assert_eq!(world.scan(None), []);
        world.sweep();
        world.put(item([("pk", "b".into())]));
        world.reopen();
        assert_eq!(world.scan(None), [item([("pk", "b".into())])]);
    });
}

#[test]
fn a_large_table_and_a_large_index_are_dropped_and_stay_so() {
    let mut world = World::on_disk();
    let mut request = simple_table();
    request.attributes.insert("g".to_owned(), ScalarType::S);
    request.global_indexes.push(global_index("index", "g"));
    world.create(request);
    for number in 0..1200 {
        world.put(item([("pk", format!("{number}").as_str().into()), ("g", "x".into())]));
    }
    let remove = GlobalIndexChange::Delete { name: "index".to_owned() };
    world.update(UpdateTable { indexes: vec![remove], ..UpdateTable::default() }).unwrap();
    world.sweep();
    world.cut_power();
    assert_eq!((world.index("index"), world.scan(None).len()), (None, 1200));
    delete(&world).unwrap();
    world.sweep();
    world.cut_power();
    world.create(simple_table());
    world.put(item([("pk", "only".into())]));
    world.reopen();
    assert_eq!(world.scan(None), [item([("pk", "only".into())])]);
}

#[test]
fn a_protected_table_is_not_deleted() {
    on_both(|world| {
        world.create(rich_table());
        assert!(message(delete(world)).contains("protected against deletion"));
        world.update(UpdateTable { deletion_protected: Some(false), ..UpdateTable::default() }).unwrap();
        delete(world).unwrap();
    });
}

#[test]
fn throughput_and_billing_change_by_the_rules() {
    on_both(|world| {
        world.create(simple_table());
        let units = Throughput { read: 5, write: 6 };
        let throughput = UpdateTable { throughput: Some(units), ..UpdateTable::default() };
        assert!(message(world.update(throughput.clone())).contains("Neither ReadCapacityUnits nor WriteCapacityUnits"));
        let provisioned = UpdateTable { billing: Some(BillingMode::Provisioned), ..UpdateTable::default() };
        assert!(message(world.update(provisioned.clone())).contains("ProvisionedThroughput must be specified"));
        let both = UpdateTable { throughput: Some(units), ..provisioned };
        assert_eq!(world.update(both).unwrap().status, Status::Updating);
        assert!(message(world.update(throughput)).contains("will not change"));
        let lower = UpdateTable { throughput: Some(Throughput { read: 4, write: 6 }), ..UpdateTable::default() };
        let described = world.update(lower).unwrap();
        assert_eq!((described.throughput.units.read, described.throughput.decreases_today), (4, 1));
        assert_eq!(world.describe().throughput.decreases_today, 1);
        world.env.advance_ms(24 * 60 * 60 * 1000);
        assert_eq!(world.describe().throughput.decreases_today, 0, "another day");
        let on_demand = UpdateTable { billing: Some(BillingMode::PayPerRequest), ..UpdateTable::default() };
        let described = world.update(on_demand).unwrap();
        assert_eq!(described.throughput.units, Throughput::default());
        described
    });
}

#[test]
fn indexes_are_made_and_removed_one_at_a_time() {
    on_both(|world| {
        world.create(simple_table());
        let create = |name: &str, attribute: &str| UpdateTable {
            attributes: [(attribute.to_owned(), ScalarType::S)].into(),
            indexes: vec![GlobalIndexChange::Create(global_index(name, attribute))],
            ..UpdateTable::default()
        };
        let remove = |name: &str| UpdateTable {
            indexes: vec![GlobalIndexChange::Delete { name: name.to_owned() }],
            ..UpdateTable::default()
        };
        let undefined = UpdateTable { attributes: Default::default(), ..create("one", "g") };
        assert!(message(world.update(undefined)).contains("Some index key attribute have no definition"));
        let mut redefined = create("one", "pk");
        redefined.attributes.insert("pk".to_owned(), ScalarType::N);
        assert!(message(world.update(redefined)).contains("different type"));
        assert!(message(world.update(remove("one"))).starts_with("ResourceNotFoundException"));
        world.update(create("one", "g")).unwrap();
        assert!(message(world.update(create("one", "g"))).contains("Index already exists: one"));
        assert!(message(world.update(create("two", "h"))).starts_with("LimitExceededException"));
        assert!(world.index("one").is_some_and(|index| index.status == Status::Creating && index.backfilling));
        world.sweep();
        assert!(world.index("one").is_some_and(|index| index.status == Status::Active && !index.backfilling));
        world.update(create("two", "h")).unwrap();
        world.update(remove("two")).unwrap();
        assert_eq!(world.index("two").map(|index| index.status), Some(Status::Deleting));
        assert!(message(world.update(remove("one"))).starts_with("LimitExceededException"));
        world.sweep();
        assert_eq!(world.index("two"), None);
        let described = world.describe();
        assert_eq!(described.attributes.keys().collect::<Vec<_>>(), ["g", "pk"]);
        described
    });
}

#[test]
fn a_stream_is_switched_on_and_off_once() {
    on_both(|world| {
        world.create(simple_table());
        let switch = |stream: StreamChange| UpdateTable { stream: Some(stream), ..UpdateTable::default() };
        assert!(message(world.update(switch(StreamChange::Disable))).starts_with("ValidationException"));
        let first = world.update(switch(StreamChange::Enable(StreamView::KeysOnly))).unwrap().stream.unwrap();
        assert_eq!(first.label, "2026-11-14T23:46:40.000");
        assert!(message(world.update(switch(StreamChange::Enable(StreamView::NewImage)))).contains("already has"));
        assert!(!world.update(switch(StreamChange::Disable)).unwrap().stream.unwrap().enabled);
        let second = world.update(switch(StreamChange::Enable(StreamView::NewImage))).unwrap().stream.unwrap();
        assert_ne!(first.arn, second.arn);
    });
}

#[test]
fn tags_are_added_listed_and_removed() {
    on_both(|world| {
        let arn = world.create(rich_table()).arn;
        let list = |arn: &str| {
            let request = ListTagsOfResource { arn: arn.to_owned(), next: None };
            world.run(request).map(|output| output.tags)
        };
        assert_eq!(list(&arn).unwrap(), [tag("a", "1"), tag("b", "3")]);
        let add = |arn: &str, tags| world.run(TagResource { arn: arn.to_owned(), tags });
        add(&arn, vec![tag("c", "4"), tag("a", "5")]).unwrap();
        let request = UntagResource { arn: arn.clone(), keys: vec!["b".to_owned(), "z".to_owned()] };
        world.run(request).unwrap();
        assert_eq!(list(&arn).unwrap(), [tag("a", "5"), tag("c", "4")]);
        let many = (0..50).map(|number| tag(&format!("k{number}"), "")).collect();
        assert!(message(add(&arn, many)).contains("tag limit is 50"));
        assert!(message(add("x", vec![tag("a", "")])).ends_with("Invalid ResourceArn provided as input x"));
        let missing = "arn:aws:dynamodb:us-east-1:000000000000:table/nosuch";
        assert!(message(add(missing, vec![tag("a", "")])).starts_with("ResourceNotFoundException"));
        assert!(message(list(missing)).starts_with("AccessDeniedException"));
    });
}

#[test]
fn expiry_is_switched_on_and_off_once() {
    on_both(|world| {
        world.create(simple_table());
        let switch = |attribute: &str, enabled| {
            let setting = TimeToLive { attribute: attribute.to_owned(), enabled };
            world.run(UpdateTimeToLive { table: TABLE.to_owned(), setting })
        };
        assert!(message(switch("t", false)).ends_with("TimeToLive is already disabled"));
        switch("t", true).unwrap();
        assert!(message(switch("t", true)).ends_with("TimeToLive is already enabled"));
        assert!(message(switch("u", true)).ends_with("current AttributeName is t"));
        switch("t", false).unwrap();
        switch("u", true).unwrap();
    });
}

#[test]
fn tables_are_found_by_their_arn() {
    on_both(|world| {
        let arn = world.create(simple_table()).arn;
        let described = world.run(DescribeTable { table: arn }).unwrap();
        assert_eq!(described.name, TABLE);
        let elsewhere = "arn:aws:dynamodb:eu-west-1:000000000000:table/things".to_owned();
        assert!(message(world.run(DescribeTable { table: elsewhere })).contains("not found"));
    });
}
