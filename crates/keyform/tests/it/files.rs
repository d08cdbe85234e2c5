//! Exported items are imported exactly, in every format; exports written by AWS can be imported.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use keyform::SystemWorld;
use keyform::operation::{CreateTable, DeleteTable, GetItem, PutItem};
use keyform::table::{KeySchema, ScalarType};
use keyform::{AttributeValue, Attributes, Execute, ExecuteExt};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{Store, stage};
use keyform_transfer::{CopyError, Export, Format, Import, export, fingerprint, import};
use md5::{Digest as _, Md5};

/// Unique table name, because tests share ExtendDB.
fn name() -> String {
    format!("things-{}", stage())
}

async fn make(store: &dyn Execute, table: &str) {
    let create = CreateTable {
        attributes: [("pk".to_owned(), ScalarType::S), ("sk".to_owned(), ScalarType::N)].into(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: vec!["sk".to_owned()] },
        ..CreateTable::named(table)
    };
    store.call(create).await.unwrap();
    keyform_runtime::deploy::ready(store, &SystemWorld, table, Default::default()).await.unwrap();
}

fn number(text: &str) -> AttributeValue {
    AttributeValue::N(text.parse().unwrap())
}

/// Values, and attribute names, that are easily corrupted.
fn difficult() -> Vec<Attributes> {
    let nested = AttributeValue::M(
        [("list".to_owned(), AttributeValue::L(vec![AttributeValue::Null, AttributeValue::B(vec![0, 255])]))].into(),
    );
    let values: Vec<(&str, AttributeValue)> = vec![
        ("text", "plain".into()),
        ("text", "".into()),
        ("text", " comma, \"quote\", line\nbreak\r\n, nul \0, ä 𝄞 ".into()),
        ("text", "true".into()),
        ("text", number("12345678901234567890123456789012345678")),
        ("small", number("1.2345678901234567890123456789012345678E-125")),
        ("small", number("-9.9999999999999999999999999999999999999E125")),
        ("zero", number("0")),
        ("name:N", "not a number".into()),
        ("a,b \"c\"", "a name with everything".into()),
        ("Item", nested.clone()),
        ("Keys", AttributeValue::M([("pk".to_owned(), "x".into())].into())),
        ("NewImage", "x".into()),
        ("yes", true.into()),
        ("no", false.into()),
        ("nothing", AttributeValue::Null),
        ("bytes", AttributeValue::B(vec![])),
        ("bytes", AttributeValue::B((0..=255).collect())),
        ("words", AttributeValue::Ss(["".to_owned(), "a,b".to_owned(), "\"".to_owned()].into())),
        ("numbers", AttributeValue::Ns(["1", "-0.5", "1E+20"].map(|text| text.parse().unwrap()).into())),
        ("pieces", AttributeValue::Bs([vec![0], vec![1, 2]].into())),
        ("list", AttributeValue::L(vec![])),
        ("map", AttributeValue::M(Attributes::new())),
        ("map", nested),
    ];
    let item = |(place, (name, value)): (usize, (&str, AttributeValue))| {
        let mut item: Attributes = [("pk".to_owned(), format!("p,{}", place % 3).into())].into();
        item.insert("sk".to_owned(), i64::try_from(place).unwrap().into());
        item.insert(name.to_owned(), value);
        item
    };
    values.into_iter().enumerate().map(item).collect()
}

async fn filled(store: &dyn Execute, table: &str) {
    make(store, table).await;
    for item in difficult() {
        let put = PutItem { table: table.to_owned(), item, ..PutItem::default() };
        store.call(put).await.unwrap();
    }
}

async fn write(store: &Arc<dyn Execute>, table: &str, to: &Path, format: Format) -> (u64, std::path::PathBuf) {
    export(&Export {
        store: store.clone(),
        table,
        to,
        format,
        segments: 3,
        world: Arc::new(SystemWorld),
        progress: Arc::new(|_| {}),
    })
    .await
    .unwrap()
}

async fn read(store: &Arc<dyn Execute>, from: &Path, overwrite: bool) -> Result<u64, CopyError> {
    read_into(store, "things", from, overwrite).await
}

async fn read_into(store: &Arc<dyn Execute>, table: &str, from: &Path, overwrite: bool) -> Result<u64, CopyError> {
    import(&Import { overwrite, ..of_file(store, table, from) }).await
}

fn of_file<'a>(store: &Arc<dyn Execute>, table: &'a str, from: &'a Path) -> Import<'a> {
    Import {
        store: store.clone(),
        table,
        from,
        format: None,
        overwrite: false,
        write_units: None,
        checkpoint: None,
        world: Arc::new(SystemWorld),
        progress: Arc::new(|_| {}),
    }
}

#[tokio::test]
async fn every_value_goes_out_and_comes_in_again_exactly() {
    let folder = tempfile::tempdir().unwrap();
    for from in Store::all().await {
        let source = name();
        filled(&*from.execute, &source).await;
        let expected = fingerprint(from.execute.clone(), &source, 1, None).await.unwrap();
        let formats = [
            ("s3", Format::S3),
            ("things.jsonl", Format::Lines),
            ("things.jsonl.gz", Format::Lines),
            ("things.csv", Format::Csv),
            ("things.csv.gz", Format::Csv),
        ];
        for (file, format) in formats {
            let path = folder.path().join(from.name).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let (items, _) = write(&from.execute, &source, &path, format).await;
            assert_eq!(items, expected.items, "{file}");
            for to in Store::all().await {
                let target = name();
                make(&*to.execute, &target).await;
                let into = async |overwrite| read_into(&to.execute, &target, &path, overwrite).await;
                assert_eq!(into(false).await.unwrap(), expected.items, "{file}");
                let arrived = fingerprint(to.execute.clone(), &target, 1, None).await.unwrap();
                assert_eq!(arrived, expected, "{file} from {} to {}", from.name, to.name);
                let again = into(false).await;
                assert!(matches!(again, Err(CopyError::NotEmpty(_))), "{file}: {again:?}");
                assert_eq!(into(true).await.unwrap(), expected.items, "{file}");
                drop(to.execute.call(DeleteTable { table: target }).await);
                to.stop();
            }
        }
        drop(from.execute.call(DeleteTable { table: source }).await);
        from.stop();
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

fn md5(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(Md5::digest(bytes))
}

/// Creates an export in the layout of AWS, with a prefix and fields that we do not write.
fn export_of_aws(folder: &Path, kind: &str, lines: &str, items: u64) -> std::path::PathBuf {
    let export = folder.join("AWSDynamoDB/01693685827463-2d8752fd");
    fs::create_dir_all(export.join("data")).unwrap();
    let data = gzip(lines);
    fs::write(export.join("data/asdl123dasas.json.gz"), &data).unwrap();
    let file = serde_json::json!({
        "itemCount": items, "md5Checksum": md5(&data), "etag": "af83d6f217c19b8b0fff8023d8ca4716-1",
        "dataFileS3Key": "some/prefix/AWSDynamoDB/01693685827463-2d8752fd/data/asdl123dasas.json.gz",
    });
    fs::write(export.join("manifest-files.json"), format!("{file}\n")).unwrap();
    let summary = serde_json::json!({
        "version": "2023-08-01",
        "exportArn": "arn:aws:dynamodb:us-east-1:599882009758:table/export-test/export/01695097218000-d6299cbd",
        "startTime": "2023-09-19T04:20:18.000Z", "endTime": "2023-09-19T04:40:24.780Z",
        "tableArn": "arn:aws:dynamodb:us-east-1:599882009758:table/export-test",
        "tableId": "b116b490-6460-4d4a-9a6b-5d360abf4fb3",
        "s3Bucket": "jason-exports", "s3Prefix": "some/prefix", "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": null,
        "manifestFilesS3Key": "some/prefix/AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json",
        "billedSizeBytes": 20, "itemCount": items, "outputFormat": "DYNAMODB_JSON", "exportType": kind,
    });
    fs::write(export.join("manifest-summary.json"), summary.to_string()).unwrap();
    fs::write(export.join("manifest-summary.checksum"), md5(summary.to_string().as_bytes())).unwrap();
    export
}

async fn get(store: &dyn Execute, pk: &str, sk: i64) -> Option<Attributes> {
    let key = [("pk".to_owned(), pk.into()), ("sk".to_owned(), sk.into())].into();
    let get = GetItem { table: "things".to_owned(), key, consistent: true, ..GetItem::default() };
    let Ok(output) = store.call(get).await else { panic!("it answers") };
    output.item.map(|item| item.to_attributes())
}

#[tokio::test]
async fn exports_of_aws_are_read_full_and_incremental() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::embedded().execute;
    make(&*store, "things").await;
    let full = "{\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"},\"v\":{\"SS\":[\"x\",\"y\"]}}}\n\
                {\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"2\"}}}\n";
    export_of_aws(&folder.path().join("full"), "FULL_EXPORT", full, 2);
    assert_eq!(read(&store, &folder.path().join("full"), false).await.unwrap(), 2);
    let stamp = "\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"1680109764000000\"}}";
    let changes = format!(
        "{{{stamp},\"Keys\":{{\"pk\":{{\"S\":\"a\"}},\"sk\":{{\"N\":\"1\"}}}},\"NewImage\":{{\"pk\":{{\"S\":\"a\"}},\"sk\":{{\"N\":\"1\"}},\"v\":{{\"N\":\"7\"}}}}}}\n\
         {{{stamp},\"Keys\":{{\"pk\":{{\"S\":\"a\"}},\"sk\":{{\"N\":\"2\"}}}},\"OldImage\":{{\"pk\":{{\"S\":\"a\"}},\"sk\":{{\"N\":\"2\"}}}}}}\n"
    );
    let incremental = export_of_aws(&folder.path().join("more"), "INCREMENTAL_EXPORT", &changes, 2);
    assert_eq!(read(&store, &incremental.join("manifest-summary.json"), true).await.unwrap(), 2);
    assert_eq!(get(&*store, "a", 1).await.and_then(|item| item.get("v").cloned()), Some(7_i64.into()));
    assert_eq!(get(&*store, "a", 2).await, None);
}

async fn fails(store: &Arc<dyn Execute>, path: &Path) -> String {
    read(store, path, true).await.unwrap_err().to_string()
}

#[tokio::test]
async fn what_is_damaged_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::embedded().execute;
    make(&*store, "things").await;
    let line = "{\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}}\n";
    let export = export_of_aws(folder.path(), "FULL_EXPORT", line, 1);
    let data = export.join("data/asdl123dasas.json.gz");
    let good = fs::read(&data).unwrap();
    fs::write(&data, gzip(&line.replace('a', "b"))).unwrap();
    assert!(fails(&store, &export).await.contains("is damaged: its MD5 is"));
    assert_eq!(get(&*store, "b", 1).await, None);
    fs::write(&data, good).unwrap();
    fs::write(export.join("manifest-summary.checksum"), "nothing").unwrap();
    assert!(fails(&store, &export).await.contains("manifest-summary.json is damaged"));
    fs::remove_file(export.join("manifest-summary.json")).unwrap();
    assert!(fails(&store, &export).await.contains("manifest-summary.json is missing"));
}

#[tokio::test]
async fn a_line_or_a_cell_that_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::embedded().execute;
    make(&*store, "things").await;
    let cases = [
        ("a.jsonl", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}\nnonsense\n", "a.jsonl, line 2: "),
        ("b.jsonl", "{\"pk\":{\"S\":\"a\"}}\n", "an item lacks sk, which is part of the key of things"),
        ("c.csv", "pk,sk,n:N\na,1,\nb,2,seven\n", "c.csv, line 3: n: `seven` is not a number DynamoDB can hold"),
        ("d.csv", "pk,sk\na,1,2\n", "d.csv, line 2: the row has 3 cells, the first row has 2"),
        ("e.txt", "", "s3, jsonl or csv"),
    ];
    for (name, text, expected) in cases {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let told = fails(&store, &path).await;
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn a_plain_csv_is_text_but_for_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::embedded().execute;
    make(&*store, "things").await;
    let path = folder.path().join("plain.csv");
    fs::write(&path, "\u{feff}pk,sk,count\r\na,1,5\r\n\r\na,2,\r\n").unwrap();
    assert_eq!(read(&store, &path, false).await.unwrap(), 2);
    assert_eq!(get(&*store, "a", 1).await.and_then(|item| item.get("count").cloned()), Some("5".into()));
    assert_eq!(get(&*store, "a", 2).await.map(|item| item.len()), Some(2));
}

#[tokio::test]
async fn an_import_that_is_killed_after_any_request_goes_on_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let (file, checkpoint) = (folder.path().join("things.jsonl"), folder.path().join("checkpoint"));
    let line = |number: usize| format!("{{\"pk\":{{\"S\":\"p{}\"}},\"sk\":{{\"N\":\"{number}\"}}}}\n", number % 7);
    fs::write(&file, (0..130).map(line).collect::<String>()).unwrap();
    for store in Store::all().await {
        let every = if store.name == "embedded" { 1 } else { 4 };
        for requests in (0..).step_by(every) {
            let table = name();
            make(&*store.execute, &table).await;
            let dying: Arc<dyn Execute> = Arc::new(Mortal::new(store.execute.clone(), requests));
            let import = async |store: &Arc<dyn Execute>| {
                import(&Import { checkpoint: Some(&checkpoint), ..of_file(store, &table, &file) }).await
            };
            let died = import(&dying).await.is_err();
            if died {
                assert_eq!(import(&store.execute).await.unwrap(), 130, "after {requests}");
            }
            assert!(!checkpoint.exists());
            let arrived = fingerprint(store.execute.clone(), &table, 1, None).await.unwrap();
            assert_eq!(arrived.items, 130, "after {requests}");
            drop(store.execute.call(DeleteTable { table }).await);
            if !died {
                assert!(requests > 6, "there was enough to be killed in");
                break;
            }
        }
        store.stop();
    }
    fs::write(&checkpoint, "{\"keyformImport\":1,\"of\":\"something else\",\"written\":3}").unwrap();
    let store = Store::embedded().execute;
    make(&*store, "things").await;
    let other = Import { overwrite: true, checkpoint: Some(&checkpoint), ..of_file(&store, "things", &file) };
    assert!(
        matches!(import(&other).await, Err(CopyError::Checkpoint(why)) if why.contains("belongs to another import"))
    );
}
