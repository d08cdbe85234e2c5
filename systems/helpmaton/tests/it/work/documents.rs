//! Documents: names, folders, contents, quotas.

use keyform::flow::FlowError;
use keyform_helpmaton::documents::{self, CONTENT_BYTES_MAX, Upload};
use keyform_helpmaton::model::{WorkspaceDocument, WorkspaceDocumentId};
use keyform_scenario::{on_embedded, on_every_store};
use tokio::task::JoinSet;

use super::office::{Office, id, person};

fn file(name: &str, folder: &str, text: &str) -> Upload {
    Upload { document_id: id(), name: name.into(), folder: folder.into(), content: text.as_bytes().to_vec() }
}

async fn upload(office: &Office, upload: Upload) -> Result<WorkspaceDocument, FlowError> {
    documents::upload(&office.system, &office.owner, &office.workspace, upload).await
}

async fn text(office: &Office, document: &WorkspaceDocumentId) -> String {
    let content = documents::content(&office.system, &office.owner, &office.workspace, document).await.unwrap();
    String::from_utf8(content).unwrap()
}

fn outcome<T: std::fmt::Debug>(refused: Result<T, FlowError>) -> String {
    match refused {
        Err(FlowError::Refused { outcome, .. }) => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_are_unique_in_a_folder_also_when_many_upload_at_once() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let mut work = JoinSet::new();
        for n in 0..6 {
            let office = office.clone();
            work.spawn(async move { upload(&office, file("notes.md", "/a/", &format!("text {n}"))).await.unwrap() });
        }
        let mut made = Vec::new();
        while let Some(done) = work.join_next().await {
            made.push(done.unwrap());
        }
        let mut names: Vec<String> = made.iter().map(|document| document.filename.clone()).collect();
        names.sort();
        let expected = ["notes-1.md", "notes-2.md", "notes-3.md", "notes-4.md", "notes-5.md", "notes.md"];
        assert_eq!(names, expected);
        let elsewhere = upload(&office, file("notes.md", "b", "other")).await.unwrap();
        assert_eq!(elsewhere.filename, "notes.md");
        for document in &made {
            assert!(text(&office, &document.document_id).await.starts_with("text "));
        }
        let folders = documents::folders(&office.by(), &office.workspace).await.unwrap();
        assert_eq!(folders.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    });
}

#[test]
fn a_document_is_renamed_moved_and_rewritten() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let workspace = &office.workspace;
        let one = upload(&office, file("one", "", "first")).await.unwrap();
        let two = upload(&office, file("two.txt", "x", "second")).await.unwrap();
        assert_eq!((one.filename.as_str(), two.content_type.as_str()), ("one.md", "text/plain"));
        // Moving to a taken name adds a number and overwrites nothing.
        let moved =
            documents::move_to(&office.system, &office.owner, workspace, &two.document_id, Some("one.md"), Some(""))
                .await
                .unwrap();
        assert_eq!((moved.filename.as_str(), moved.folder_path.as_str()), ("one-1.md", ""));
        let renamed = documents::move_to(&office.system, &office.owner, workspace, &one.document_id, Some("uno"), None)
            .await
            .unwrap();
        assert_eq!((renamed.filename.as_str(), renamed.name.as_str()), ("uno.md", "uno"));
        assert_eq!(
            (text(&office, &one.document_id).await, text(&office, &two.document_id).await),
            ("first".into(), "second".into())
        );

        documents::replace(&office.system, &office.owner, workspace, &one.document_id, b"again".to_vec())
            .await
            .unwrap();
        assert_eq!(text(&office, &one.document_id).await, "again");
        assert_eq!(office.objects.keys().len(), 2, "the old content is gone");
        documents::remove(&office.system, &office.owner, workspace, &one.document_id).await.unwrap();
        let again = documents::remove(&office.system, &office.owner, workspace, &one.document_id).await;
        assert_eq!(outcome(again), "UnknownDocument");
        assert_eq!(office.objects.keys().len(), 1);
        // The name is available again.
        assert_eq!(upload(&office, file("uno.md", "", "")).await.unwrap().filename, "uno.md");
    });
}

#[test]
fn an_upload_that_is_repeated_makes_one_document() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let file = file("a.md", "", "text");
        let first = upload(&office, file.clone()).await.unwrap();
        assert_eq!(upload(&office, file).await.unwrap(), first);
        assert_eq!(office.objects.keys().len(), 1);
    });
}

#[test]
fn lengths_kinds_and_quotas_are_kept() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        assert_eq!(outcome(upload(&office, file("a.exe", "", "")).await), "UnknownFileType");
        let long = Upload { content: vec![b'x'; CONTENT_BYTES_MAX + 1], ..file("a.md", "", "") };
        assert_eq!(outcome(upload(&office, long).await), "ContentTooLong");
        assert!(matches!(upload(&office, file("a.md", "../x", "")).await, Err(FlowError::Arguments(_))));
        let left = async || office.system.model.subscription_by_id(&office.subscription).await.unwrap().unwrap();
        let before = left().await;
        let document = upload(&office, file("a.md", "", "12345")).await.unwrap();
        let bytes = b"1234567890".to_vec();
        documents::replace(&office.system, &office.owner, &office.workspace, &document.document_id, bytes)
            .await
            .unwrap();
        assert_eq!(left().await.document_bytes_left, before.document_bytes_left - 10);
        assert_eq!(left().await.documents_left, before.documents_left - 1);
        documents::remove(&office.system, &office.owner, &office.workspace, &document.document_id).await.unwrap();
        assert_eq!(left().await.document_bytes_left, before.document_bytes_left);
        let stranger = person(&office.system).await;
        let refused = documents::upload(&office.system, &stranger, &office.workspace, file("b.md", "", "")).await;
        assert!(matches!(refused, Err(FlowError::Forbidden)));
        assert_eq!(office.objects.keys().len(), 0, "nothing is left of refused uploads");
    });
}
