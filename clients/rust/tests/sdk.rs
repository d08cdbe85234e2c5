//! The server from the perspective of the `aws-sdk-dynamodb` crate: typed errors, paginators, transactions, streams.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, Put, PutRequest, ReturnValue, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update, WriteRequest,
};
use keyform_clients_rust::{client, make_table, read_stream, streams};

type Item = HashMap<String, AttributeValue>;

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn key(partition: &str, sort: i64) -> Item {
    HashMap::from([("pk".to_owned(), text(partition)), ("sk".to_owned(), number(sort))])
}

async fn put(client: &Client, table: &str, item: Item) {
    client.put_item().table_name(table).set_item(Some(item)).send().await.expect("the item can be written");
}

async fn get(client: &Client, table: &str, key: Item) -> Option<Item> {
    let request = client.get_item().table_name(table).set_key(Some(key)).consistent_read(true);
    request.send().await.expect("the item can be read").item
}

/// Returns all items of one partition, page by page.
async fn all_of(client: &Client, table: &str, partition: &str, page: i32) -> Vec<Item> {
    let pages = client
        .query()
        .table_name(table)
        .key_condition_expression("pk = :p")
        .expression_attribute_values(":p", text(partition))
        .limit(page)
        .into_paginator()
        .items();
    pages.send().collect::<Result<_, _>>().await.expect("the pages can be read")
}

#[tokio::test]
async fn every_type_comes_back_as_it_was_written() {
    let client = client();
    let table = make_table(&client).await;
    let mut item = key("all", 1);
    item.extend([
        ("string".to_owned(), text("naïve ☃ 𝄞")),
        ("digits".to_owned(), number("12345678901234567890123456789012345678")),
        ("binary".to_owned(), AttributeValue::B(Blob::new((0..=255).collect::<Vec<u8>>()))),
        ("bool".to_owned(), AttributeValue::Bool(true)),
        ("null".to_owned(), AttributeValue::Null(true)),
        ("list".to_owned(), AttributeValue::L(vec![number(1), AttributeValue::L(vec![]), text("")])),
        ("map".to_owned(), AttributeValue::M(HashMap::from([("x".to_owned(), AttributeValue::M(HashMap::new()))]))),
        ("one".to_owned(), AttributeValue::Ss(vec!["a".to_owned()])),
        ("blobs".to_owned(), AttributeValue::Bs(vec![Blob::new(vec![7])])),
    ]);
    put(&client, &table, item.clone()).await;
    assert_eq!(get(&client, &table, key("all", 1)).await, Some(item));
}

#[tokio::test]
async fn a_refused_condition_is_a_typed_error_with_the_item() {
    let client = client();
    let table = make_table(&client).await;
    put(&client, &table, key("a", 1)).await;
    let refused = client
        .put_item()
        .table_name(&table)
        .set_item(Some(key("a", 1)))
        .condition_expression("attribute_not_exists(pk)")
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .send()
        .await
        .expect_err("the item is there already")
        .into_service_error();
    assert!(refused.is_conditional_check_failed_exception(), "{refused:?}");
    assert_eq!(refused.meta().message(), Some("The conditional request failed"));
}

#[tokio::test]
async fn errors_are_typed() {
    let client = client();
    let table = make_table(&client).await;
    let missing = client.get_item().table_name("no-such-table").set_key(Some(key("a", 1))).send().await;
    assert!(missing.expect_err("no table").into_service_error().is_resource_not_found_exception());
    let invalid = client.get_item().table_name(&table).key("pk", text("a")).send().await;
    let invalid = invalid.expect_err("half a key").into_service_error();
    assert_eq!(invalid.meta().code(), Some("ValidationException"));
    assert_eq!(invalid.meta().message(), Some("The provided key element does not match the schema"));
}

#[tokio::test]
async fn updates_return_what_they_made() {
    let client = client();
    let table = make_table(&client).await;
    for expected in 1..=3 {
        let changed = client
            .update_item()
            .table_name(&table)
            .set_key(Some(key("counter", 0)))
            .update_expression("ADD hits :one SET seen = list_append(if_not_exists(seen, :none), :entry)")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":none", AttributeValue::L(vec![]))
            .expression_attribute_values(":entry", AttributeValue::L(vec![number(expected)]))
            .return_values(ReturnValue::UpdatedNew)
            .send()
            .await
            .expect("the update works");
        let attributes = changed.attributes.expect("the new values");
        assert_eq!(attributes["hits"], number(expected));
        assert_eq!(attributes["seen"].as_l().expect("a list").len(), expected as usize);
    }
}

#[tokio::test]
async fn the_paginator_walks_every_page_in_order() {
    let client = client();
    let table = make_table(&client).await;
    for sort in (-5..20).rev() {
        put(&client, &table, key("p", sort)).await;
    }
    let found = all_of(&client, &table, "p", 4).await;
    let order: Vec<i64> =
        found.iter().map(|item| item["sk"].as_n().expect("a number").parse().expect("an integer")).collect();
    assert_eq!(order, (-5..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn batches_are_written_and_read_with_retries() {
    let client = client();
    let table = make_table(&client).await;
    let writes = (0..25).map(|sort| {
        let put = PutRequest::builder().set_item(Some(key("b", sort))).build().expect("an item is given");
        WriteRequest::builder().put_request(put).build()
    });
    let mut rest = HashMap::from([(table.clone(), writes.collect::<Vec<_>>())]);
    for _ in 0..20 {
        let answer = client.batch_write_item().set_request_items(Some(rest)).send().await.expect("a good batch");
        rest = answer.unprocessed_items.unwrap_or_default();
        if rest.is_empty() {
            break;
        }
    }
    assert!(rest.is_empty());
    let keys = KeysAndAttributes::builder().set_keys(Some((0..30).map(|sort| key("b", sort)).collect()));
    let keys = keys.build().expect("keys are given");
    let answer = client.batch_get_item().request_items(&table, keys).send().await.expect("a good batch");
    assert_eq!(answer.responses.expect("an answer")[&table].len(), 25);
}

fn add(table: &str, partition: &str, amount: i64, condition: Option<&str>) -> TransactWriteItem {
    let update = Update::builder()
        .table_name(table)
        .set_key(Some(key(partition, 0)))
        .update_expression("ADD balance :n")
        .set_condition_expression(condition.map(str::to_owned))
        .expression_attribute_values(":n", number(amount));
    TransactWriteItem::builder().update(update.build().expect("all is given")).build()
}

#[tokio::test]
async fn a_cancelled_transaction_names_its_reasons_and_changes_nothing() {
    let client = client();
    let table = make_table(&client).await;
    let fresh = Put::builder().table_name(&table).set_item(Some(key("new", 0))).build().expect("all is given");
    let refused = client
        .transact_write_items()
        .transact_items(TransactWriteItem::builder().put(fresh).build())
        .transact_items(add(&table, "poor", -5, Some("attribute_exists(pk)")))
        .send()
        .await
        .expect_err("the condition fails")
        .into_service_error();
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = refused else {
        panic!("not a cancellation: {refused:?}");
    };
    let codes: Vec<_> = cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code()).collect();
    assert_eq!(codes, ["None", "ConditionalCheckFailed"]);
    assert_eq!(get(&client, &table, key("new", 0)).await, None);
}

#[tokio::test]
async fn a_token_makes_a_transaction_happen_once() {
    let client = client();
    let table = make_table(&client).await;
    let token = format!("token-{table}");
    for _ in 0..3 {
        let request = client.transact_write_items().client_request_token(&token);
        request.transact_items(add(&table, "acc", 7, None)).send().await.expect("a repeated request is harmless");
    }
    let found = get(&client, &table, key("acc", 0)).await.expect("the account");
    assert_eq!(found["balance"], number(7));
    let other = client.transact_write_items().client_request_token(&token);
    let refused = other.transact_items(add(&table, "acc", 8, None)).send().await.expect_err("another request");
    assert!(refused.into_service_error().is_idempotent_parameter_mismatch_exception());
}

#[tokio::test]
async fn partiql_reads_and_writes() {
    let client = client();
    let table = make_table(&client).await;
    let insert = format!("INSERT INTO \"{table}\" VALUE {{'pk': 'q', 'sk': 1, 'n': 5}}");
    client.execute_statement().statement(&insert).send().await.expect("the item is new");
    let again = client.execute_statement().statement(&insert).send().await.expect_err("the item is there");
    assert!(again.into_service_error().is_duplicate_item_exception());
    let select = format!("SELECT n FROM \"{table}\" WHERE pk = ? AND sk = 1");
    let found = client.execute_statement().statement(select).parameters(text("q")).send().await.expect("a good query");
    assert_eq!(found.items(), [HashMap::from([("n".to_owned(), number(5))])]);
}

#[tokio::test]
async fn the_stream_tells_every_change() {
    let client = client();
    let table = make_table(&client).await;
    put(&client, &table, key("s", 1)).await;
    let delete = client.delete_item().table_name(&table).set_key(Some(key("s", 1)));
    delete.send().await.expect("the item can be deleted");
    let records = read_stream(&client, &streams(), &table).await;
    let names: Vec<_> = records.iter().filter_map(|record| record.event_name()).map(|name| name.as_str()).collect();
    assert_eq!(names, ["INSERT", "REMOVE"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_all_count() {
    let client = client();
    let table = make_table(&client).await;
    let tasks: Vec<_> = (0..40)
        .map(|sort| {
            let (client, table) = (client.clone(), table.clone());
            tokio::spawn(async move {
                put(&client, &table, key("many", sort)).await;
                let add = client.update_item().table_name(&table).set_key(Some(key("hot", 0)));
                let add = add.update_expression("ADD n :one").expression_attribute_values(":one", number(1));
                add.send().await.expect("the update works");
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("the writer finishes");
    }
    let hot = get(&client, &table, key("hot", 0)).await.expect("the counter");
    assert_eq!(hot["n"], number(40));
    let sorts: BTreeSet<String> = all_of(&client, &table, "many", 100)
        .await
        .iter()
        .map(|item| item["sk"].as_n().expect("a number").clone())
        .collect();
    assert_eq!(sorts.len(), 40);
}
