//! Documents of a workspace: text files in folders.
//!
//! A document's metadata is an item. Its content is an object whose key consists of ids, so renaming and moving change
//! only the item. New content is a new object that the item then refers to: a reader sees the old content or the new
//! one, never a mixture. Documents of a folder have distinct file names; a taken name becomes `name-1.ext`, also under
//! concurrent uploads.
//!
//! Object keys are generated here, and neither accepted from callers nor returned to them. The model's writes that
//! touch content are for code only. They check the level of the acting user in their own transaction, so a member who
//! was just removed changes nothing. [`crate::unused_objects`] deletes the objects that uploads,
//! changes and deletions leave behind.

use std::collections::BTreeSet;

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents::Done;
use crate::model::{
    self, Caller, CreateDocumentError, CreateDocumentInput, DeleteDocumentError, MoveDocumentError, MoveDocumentInput,
    ReplaceContentError, ReplaceContentInput, WorkspaceDocument, WorkspaceDocumentId, WorkspaceId,
};
use crate::permissions::Level;
use crate::{Helpmaton, unused_objects};

/// Maximum size of a document's content.
pub const CONTENT_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Maximum number of files per request.
pub const FILES_MAX: usize = 50;
/// Maximum number of names tried for one file.
const NAMES_MAX: u32 = 200;
const FOLDER_CHARS_MAX: usize = 200;
const FILENAME_CHARS_MAX: usize = 200;
/// Room in a file name for a suffix such as `-123`.
const SUFFIX_CHARS: usize = 8;
/// Attempts of a change against concurrent changes of the same document.
const TRIES_MAX: usize = 8;

/// Normalizes a folder path: no leading, trailing or double `/`, no `..`. The root is the empty string.
///
/// # Errors
/// The path is too long or has an invalid part.
pub fn folder_path(path: &str) -> Result<String, FlowError> {
    let parts: Vec<&str> = path.split('/').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| matches!(*part, "." | "..") || part.contains(['\\', '\0'])) {
        return Err(FlowError::Arguments("the path of a folder cannot contain `.`, `..` or `\\`".to_owned()));
    }
    let path = parts.join("/");
    if path.chars().count() > FOLDER_CHARS_MAX {
        return Err(FlowError::Arguments(format!(
            "the path of a folder can have at most {FOLDER_CHARS_MAX} characters"
        )));
    }
    Ok(path)
}

/// Checks a file name; it must have the extension of a text file.
fn filename(name: &str) -> Result<String, FlowError> {
    let name = name.trim();
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
        return Err(FlowError::Arguments(format!("`{name}` is not a valid file name")));
    }
    let name = match extension(name) {
        Some("md" | "txt" | "markdown") => name.to_owned(),
        None => format!("{name}.md"),
        Some(other) => {
            return Err(FlowError::refused(
                "UnknownFileType",
                format!("`.{other}` is not supported: use .md, .txt or .markdown"),
            ));
        }
    };
    if name.chars().count() > FILENAME_CHARS_MAX - SUFFIX_CHARS {
        return Err(FlowError::Arguments("the file name is too long".to_owned()));
    }
    Ok(name)
}

fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

/// Returns the n-th name to try: the name itself, then `name-1.ext` and so on.
fn nth_name(name: &str, n: u32) -> String {
    match (n, name.rsplit_once('.')) {
        (0, _) => name.to_owned(),
        (n, Some((stem, extension))) => format!("{stem}-{n}.{extension}"),
        (n, None) => format!("{name}-{n}"),
    }
}

fn content_type(filename: &str) -> &'static str {
    match extension(filename) {
        Some("txt") => "text/plain",
        _ => "text/markdown",
    }
}

/// Returns the key prefix of a workspace's objects.
pub(crate) fn workspace_prefix(workspace_id: &WorkspaceId) -> String {
    format!("workspaces/{workspace_id}/")
}

/// Returns whether a key belongs to an object of this workspace. Items from the time when callers could choose keys may
/// have others.
pub(crate) fn is_of_workspace(workspace_id: &WorkspaceId, key: &str) -> bool {
    let rest = key.strip_prefix(&workspace_prefix(workspace_id));
    rest.is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// Document to upload.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Id of the document; a repeated call with the same id returns the existing document.
    pub document_id: WorkspaceDocumentId,
    /// Display name; also the file name, if available.
    pub name: String,
    /// Path of the folder.
    pub folder: String,
    /// Text content.
    pub content: Vec<u8>,
}

/// Uploads a document for a member who may write.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` may not write; refused with `ContentTooLong`, `UnknownFileType`,
/// `DocumentLimitReached`, `SpaceLimitReached` and the outcomes of the model's `createDocument`.
pub async fn upload(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    upload: Upload,
) -> Result<WorkspaceDocument, FlowError> {
    let (folder, filename) = (folder_path(&upload.folder)?, filename(&upload.name)?);
    let size = checked_size(&upload.content)?;
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    if let Some(found) = helpmaton.model.document_by_id(workspace_id, &upload.document_id).await? {
        return Ok(found);
    }
    let key = helpmaton.new_object_key(workspace_id, &upload.document_id);
    unused_objects::store(helpmaton, workspace_id, &key, upload.content).await?;
    let input = CreateDocumentInput {
        document_id: Some(upload.document_id.clone()),
        ..CreateDocumentInput::new(
            workspace_id.clone(),
            upload.name.trim(),
            filename.clone(),
            folder,
            key.clone(),
            content_type(&filename),
            size,
            by.user_id.clone(),
        )
    };
    let created = create_under_free_name(&helpmaton.model, input).await;
    if !matches!(&created, Ok(document) if *document.s3_key.expose() == key) {
        unused_objects::discard(helpmaton, workspace_id, &key).await;
    }
    created
}

/// Tries names until one is available.
async fn create_under_free_name(
    model: &model::Helpmaton,
    input: CreateDocumentInput,
) -> Result<WorkspaceDocument, FlowError> {
    let id = input.document_id.clone().ok_or(CallError::Gone)?;
    for n in 0..NAMES_MAX {
        let attempt = CreateDocumentInput { filename: nth_name(&input.filename, n), ..input.clone() };
        match model.create_document(attempt).await {
            Err(CreateDocumentError::FilenameTaken) => {
                // Taken by another document of this folder, or by this one if the answer to an earlier request was
                // lost.
                if let Some(found) = model.document_by_id(&input.workspace_id, &id).await? {
                    return Ok(found);
                }
            }
            Err(CreateDocumentError::Forbidden) => return Err(FlowError::Forbidden),
            created => return Ok(created?),
        }
    }
    Err(FlowError::refused("FilenameTaken", "too many files have this name: choose another one"))
}

fn checked_size(content: &[u8]) -> Result<i64, FlowError> {
    if content.len() > CONTENT_BYTES_MAX {
        return Err(FlowError::refused(
            "ContentTooLong",
            format!(
                "a document can have at most {CONTENT_BYTES_MAX} \
            bytes"
            ),
        ));
    }
    i64::try_from(content.len()).map_err(|error| FlowError::Broken(error.to_string()))
}

impl Helpmaton {
    fn new_object_key(&self, workspace_id: &WorkspaceId, document_id: &WorkspaceDocumentId) -> String {
        let content = self.world().uuid();
        format!("{}documents/{document_id}/{content}", workspace_prefix(workspace_id))
    }
}

/// Renames a document, moves it to another folder, or both, for a member who may write. Omitted arguments stay
/// unchanged. A taken name gets a number.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` may not write; refused with `UnknownDocument`, `UnknownFileType` or
/// `FilenameTaken`.
pub async fn move_to(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    document_id: &WorkspaceDocumentId,
    name: Option<&str>,
    folder: Option<&str>,
) -> Result<WorkspaceDocument, FlowError> {
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    let mut tries = 0;
    let mut number = 0;
    loop {
        let document = existing(&helpmaton.model, workspace_id, document_id).await?;
        let folder = folder.map(folder_path).transpose()?.unwrap_or_else(|| document.folder_path.clone());
        let wanted = name.map(|name| filename(&with_extension_of(name, &document.filename))).transpose()?;
        let wanted = wanted.unwrap_or_else(|| document.filename.clone());
        if wanted == document.filename
            && folder == document.folder_path
            && name.is_none_or(|name| name.trim() == document.name)
        {
            return Ok(document);
        }
        let input = MoveDocumentInput {
            workspace_id: workspace_id.clone(),
            document_id: document_id.clone(),
            name: name.map_or_else(|| document.name.clone(), |name| name.trim().to_owned()),
            filename: nth_name(&wanted, number),
            folder_path: folder,
            expected_version: document.version,
            by: by.user_id.clone(),
        };
        match helpmaton.model.move_document(input).await {
            Err(MoveDocumentError::Forbidden) => return Err(FlowError::Forbidden),
            Err(MoveDocumentError::FilenameTaken) if number + 1 < NAMES_MAX => number += 1,
            Err(MoveDocumentError::Conflict(_)) if tries + 1 < TRIES_MAX => tries += 1,
            moved => return Ok(moved?),
        }
    }
}

/// Keeps the extension of the old name, unless the new one has its own.
fn with_extension_of(name: &str, old: &str) -> String {
    match (extension(name.trim()), extension(old)) {
        (None, Some(extension)) => format!("{}.{extension}", name.trim()),
        _ => name.to_owned(),
    }
}

async fn existing(
    by: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    document_id: &WorkspaceDocumentId,
) -> Result<WorkspaceDocument, FlowError> {
    let found = by.document_by_id(workspace_id, document_id).await?;
    found.ok_or_else(|| FlowError::refused("UnknownDocument", "unknown document"))
}

/// Replaces the content of a document, for a member who may write.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` may not write; refused with `UnknownDocument`, `ContentTooLong` or
/// `SpaceLimitReached`.
pub async fn replace(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    document_id: &WorkspaceDocumentId,
    content: Vec<u8>,
) -> Result<WorkspaceDocument, FlowError> {
    let new_size = checked_size(&content)?;
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    existing(&helpmaton.model, workspace_id, document_id).await?;
    let key = helpmaton.new_object_key(workspace_id, document_id);
    unused_objects::store(helpmaton, workspace_id, &key, content).await?;
    match replace_by(helpmaton, by, (workspace_id, document_id), &key, new_size).await {
        Ok((old_key, document)) => {
            unused_objects::discard(helpmaton, workspace_id, &old_key).await;
            Ok(document)
        }
        Err(error) => {
            unused_objects::discard(helpmaton, workspace_id, &key).await;
            Err(error)
        }
    }
}

/// Points the document to the new object; returns the key of the old object, and the document.
async fn replace_by(
    helpmaton: &Helpmaton,
    by: &Caller,
    (workspace_id, document_id): (&WorkspaceId, &WorkspaceDocumentId),
    key: &str,
    new_size: i64,
) -> Result<(String, WorkspaceDocument), FlowError> {
    for _ in 0..TRIES_MAX {
        let document = existing(&helpmaton.model, workspace_id, document_id).await?;
        let input = ReplaceContentInput {
            workspace_id: workspace_id.clone(),
            document_id: document_id.clone(),
            s3_key: key.to_owned(),
            new_size,
            growth: new_size - document.size,
            expected_version: document.version,
            by: by.user_id.clone(),
        };
        match helpmaton.model.replace_content(input).await {
            Err(ReplaceContentError::Conflict(_)) => {}
            Err(ReplaceContentError::Forbidden) => return Err(FlowError::Forbidden),
            replaced => return Ok((document.s3_key.into_inner(), replaced?)),
        }
    }
    Err(FlowError::Failed(RunError::Busy))
}

/// Returns the content of a document, for a member.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` is not a member; refused with `UnknownDocument`; or the object store fails.
pub async fn content(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    document_id: &WorkspaceDocumentId,
) -> Result<Vec<u8>, FlowError> {
    let as_member = helpmaton.model.as_caller(by.clone());
    for _ in 0..TRIES_MAX {
        let document = existing(&as_member, workspace_id, document_id).await?;
        let key = document.s3_key.expose();
        if !is_of_workspace(workspace_id, key) {
            return Err(FlowError::Broken(format!("document {document_id} refers to an object of another workspace")));
        }
        // A concurrent replacement deletes the old object after updating the document; then read the document again.
        if let Some(content) = helpmaton.settings().objects.get(key).await? {
            return Ok(content);
        }
    }
    Err(FlowError::Broken("the object of a document is missing".to_owned()))
}

/// Deletes a document and then its object, for a member who may write.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` may not write; refused with `UnknownDocument`.
pub async fn remove(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    document_id: &WorkspaceDocumentId,
) -> Result<(), FlowError> {
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    for _ in 0..TRIES_MAX {
        let document = existing(&helpmaton.model, workspace_id, document_id).await?;
        match helpmaton.model.delete_document(workspace_id, document_id, &by.user_id).await {
            Err(DeleteDocumentError::Conflict(_)) => {}
            Err(DeleteDocumentError::Forbidden) => return Err(FlowError::Forbidden),
            deleted => {
                deleted?;
                unused_objects::discard(helpmaton, workspace_id, document.s3_key.expose()).await;
                return Ok(());
            }
        }
    }
    Err(FlowError::Failed(RunError::Busy))
}

/// Returns the folders that contain documents, in order; the root is the empty string.
///
/// # Errors
/// The caller lacks permission, or the store fails.
pub async fn folders(by: &model::Helpmaton, workspace_id: &WorkspaceId) -> Result<BTreeSet<String>, CallError> {
    let documents = by.documents_in_workspace(workspace_id).all().await?;
    Ok(documents.into_iter().map(|document| document.folder_path).collect())
}

/// Files to upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UploadArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Folder of the files; the root by default.
    #[serde(default)]
    folder: String,
    /// Files to upload.
    files: Vec<FileArguments>,
}

/// A file to upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileArguments {
    /// File name.
    name: String,
    /// Content, as text.
    text: String,
}

/// Changes of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the document.
    #[schemars(with = "String")]
    document_id: WorkspaceDocumentId,
    /// New file name.
    name: Option<String>,
    /// New folder.
    folder: Option<String>,
    /// New content.
    text: Option<String>,
}

/// Identifies a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DocumentArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the document.
    #[schemars(with = "String")]
    document_id: WorkspaceDocumentId,
}

/// Identifies a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FoldersArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
}

/// Metadata of a document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DocumentAnswer {
    /// Id of the document.
    #[schemars(with = "String")]
    document_id: WorkspaceDocumentId,
    /// Display name.
    name: String,
    /// File name, unique within the folder.
    filename: String,
    /// Folder of the document.
    folder: String,
    /// Size in bytes.
    size: i64,
}

impl From<WorkspaceDocument> for DocumentAnswer {
    fn from(document: WorkspaceDocument) -> Self {
        Self {
            document_id: document.document_id,
            name: document.name,
            filename: document.filename,
            folder: document.folder_path,
            size: document.size,
        }
    }
}

async fn upload_flow(helpmaton: Helpmaton, call: FlowCall<UploadArguments>) -> Result<Vec<DocumentAnswer>, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let UploadArguments { workspace_id, folder, files } = call.arguments;
    if files.len() > FILES_MAX {
        return Err(FlowError::Arguments(format!("upload at most {FILES_MAX} files at a time")));
    }
    helpmaton.require_level(&by.user_id, &workspace_id, Level::Write).await?;
    let mut made = Vec::new();
    for (n, file) in files.into_iter().enumerate() {
        let document_id = helpmaton.id_for(call.token.as_deref(), &format!("document {n}"));
        let file = Upload { document_id, name: file.name, folder: folder.clone(), content: file.text.into_bytes() };
        made.push(upload(&helpmaton, &by, &workspace_id, file).await?.into());
    }
    Ok(made)
}

async fn change_flow(helpmaton: Helpmaton, call: FlowCall<ChangeArguments>) -> Result<DocumentAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let ChangeArguments { workspace_id, document_id, name, folder, text } = call.arguments;
    helpmaton.require_level(&by.user_id, &workspace_id, Level::Write).await?;
    if let Some(text) = text {
        replace(&helpmaton, &by, &workspace_id, &document_id, text.into_bytes()).await?;
    }
    Ok(move_to(&helpmaton, &by, &workspace_id, &document_id, name.as_deref(), folder.as_deref()).await?.into())
}

async fn text_flow(helpmaton: Helpmaton, call: FlowCall<DocumentArguments>) -> Result<String, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let DocumentArguments { workspace_id, document_id } = call.arguments;
    let content = content(&helpmaton, &by, &workspace_id, &document_id).await?;
    String::from_utf8(content).map_err(|_| FlowError::refused("NotText", "the document is not UTF-8 text"))
}

async fn remove_flow(helpmaton: Helpmaton, call: FlowCall<DocumentArguments>) -> Result<Done, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let DocumentArguments { workspace_id, document_id } = call.arguments;
    remove(&helpmaton, &by, &workspace_id, &document_id).await.map(|()| Done {})
}

async fn folders_flow(helpmaton: Helpmaton, call: FlowCall<FoldersArguments>) -> Result<BTreeSet<String>, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    Ok(folders(&by, &call.arguments.workspace_id).await?)
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    const UPLOAD: &[&str] = &[
        "ContentTooLong",
        "UnknownFileType",
        "FilenameTaken",
        "DocumentLimitReached",
        "SpaceLimitReached",
        "UnknownWorkspace",
        "WorkspaceGone",
    ];
    const CHANGE: &[&str] =
        &["UnknownDocument", "ContentTooLong", "UnknownFileType", "FilenameTaken", "SpaceLimitReached"];
    const UNKNOWN: &[&str] = &["UnknownDocument"];
    application
        .flow(helpmaton.flow("uploadDocuments", "Uploads text files into a folder.", upload_flow).outcomes(UPLOAD))
        .flow(helpmaton.flow("editDocument", "Renames, moves or rewrites a document.", change_flow).outcomes(CHANGE))
        .flow(helpmaton.flow("documentText", "Returns the text of a document.", text_flow).outcomes(UNKNOWN))
        .flow(helpmaton.flow("removeDocument", "Deletes a document and its text.", remove_flow).outcomes(UNKNOWN))
        .flow(helpmaton.flow("folders", "Lists the folders that contain documents.", folders_flow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_form() {
        for (given, path) in [("", ""), ("/", ""), (" /a//b/ ", "a/b"), ("a / b", "a/b"), ("Ünïcode", "Ünïcode")] {
            assert_eq!(folder_path(given).expect("a path"), path, "{given}");
        }
        for given in ["..", "a/../b", "./a", "a\\b", &"x".repeat(201)] {
            assert!(folder_path(given).is_err(), "{given}");
        }
    }

    #[test]
    fn an_object_is_of_the_workspace_that_its_key_begins_with() {
        let workspace = WorkspaceId::from(keyform::Uuid::fresh());
        assert!(is_of_workspace(&workspace, &format!("workspaces/{workspace}/documents/a/b")));
        let other = WorkspaceId::from(keyform::Uuid::fresh());
        for key in [
            format!("workspaces/{other}/documents/a/b"),
            format!("workspaces/{workspace}/../{other}/documents/a/b"),
            format!("workspaces/{workspace}//b"),
            format!("workspaces/{workspace}/"),
            format!("workspaces/{workspace}"),
            "webhook-logs/a".to_owned(),
        ] {
            assert!(!is_of_workspace(&workspace, &key), "{key}");
        }
    }

    #[test]
    fn file_names_are_those_of_text() {
        for (given, name) in [("a.md", "a.md"), (" notes ", "notes.md"), ("a.b.txt", "a.b.txt"), (".md", ".md.md")] {
            assert_eq!(filename(given).expect("a name"), name, "{given}");
        }
        for given in ["", "..", "a/b", "a.exe", "a\\b", &"x".repeat(300)] {
            assert!(filename(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        assert_eq!(nth_name("a.md", 0), "a.md");
        assert_eq!(nth_name("a.b.md", 2), "a.b-2.md");
        assert_eq!(with_extension_of("new", "old.txt"), "new.txt");
        assert_eq!(with_extension_of("new.md", "old.txt"), "new.md");
    }
}
