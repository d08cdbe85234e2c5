//! `keyform lsp`: language server over standard input and output.
//!
//! 1. `document` stores the open documents and checks each one again when it changes.
//! 2. `position` converts between byte offsets and the protocol's lines and UTF-16 columns.
//! 3. `answer` implements completion, hover, definition, references, rename, fixes and formatting; diagnostics are sent after each change.

mod answer;
mod document;
mod position;

use clap::Command;
use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, Formatting, GotoDefinition, HoverRequest, References, Rename, Request as _,
};
use lsp_types::{
    CodeActionProviderCapability, CompletionOptions, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, HoverProviderCapability, OneOf, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde::de::DeserializeOwned;

use crate::failure::Failure;

use document::Documents;

const ABOUT: &str = "Run the language server for editors";
const MORE: &str = "Speaks the Language Server Protocol over standard input and output: findings while typing, \
    completion inside templates and of fields, hover with key condition and cost, go to definition, find references, \
    rename, fixes of findings, formatting. \
    docs/editors.md describes the setup.";

pub(crate) fn command() -> Command {
    Command::new("lsp").about(ABOUT).after_help(MORE)
}

/// Serves until the editor shuts down the server.
pub(crate) fn run() -> Result<(), Failure> {
    let (connection, threads) = Connection::stdio();
    connection.initialize(serde_json::to_value(capabilities())?)?;
    serve(&connection)?;
    drop(connection);
    threads.join()?;
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["{", ":", ".", "\"", " "].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

fn serve(connection: &Connection) -> Result<(), Failure> {
    let mut documents = Documents::default();
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                connection.sender.send(Message::Response(respond(&documents, request)))?;
            }
            Message::Notification(notification) => {
                if let Some(findings) = notice(&mut documents, notification) {
                    let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), findings);
                    connection.sender.send(Message::Notification(notification))?;
                }
            }
            Message::Response(_) => {}
        }
    }
    Ok(())
}

fn respond(documents: &Documents, request: Request) -> Response {
    let Request { id, method, params } = request;
    match method.as_str() {
        Completion::METHOD => reply(id, params, |params| answer::completion(documents, &params)),
        HoverRequest::METHOD => reply(id, params, |params| answer::hover(documents, &params)),
        GotoDefinition::METHOD => reply(id, params, |params| answer::definition(documents, &params)),
        CodeActionRequest::METHOD => reply(id, params, |params| answer::code_actions(documents, &params)),
        References::METHOD => reply(id, params, |params| answer::references(documents, &params)),
        Rename::METHOD => renamed(documents, id, params),
        Formatting::METHOD => reply(id, params, |params| answer::formatting(documents, &params)),
        _ => Response::new_err(id, lsp_server::ErrorCode::MethodNotFound as i32, format!("unknown method {method}")),
    }
}

/// Answers a rename; a refusal is an error that the editor shows.
fn renamed(documents: &Documents, id: lsp_server::RequestId, params: serde_json::Value) -> Response {
    let failed = |error: String| (lsp_server::ErrorCode::RequestFailed as i32, error);
    let params = serde_json::from_value(params)
        .map_err(|error| (lsp_server::ErrorCode::InvalidParams as i32, error.to_string()));
    let edit = params.and_then(|params| answer::rename(documents, &params).map_err(|error| failed(error.to_string())));
    match edit {
        Ok(edit) => Response::new_ok(id, edit),
        Err((code, message)) => Response::new_err(id, code, message),
    }
}

fn reply<P: DeserializeOwned, R: serde::Serialize>(
    id: lsp_server::RequestId,
    params: serde_json::Value,
    answer: impl FnOnce(P) -> R,
) -> Response {
    match serde_json::from_value(params) {
        Ok(params) => Response::new_ok(id, answer(params)),
        Err(error) => Response::new_err(id, lsp_server::ErrorCode::InvalidParams as i32, error.to_string()),
    }
}

/// Handles a notification; returns the diagnostics of the affected document.
fn notice(documents: &mut Documents, notification: Notification) -> Option<PublishDiagnosticsParams> {
    let Notification { method, params } = notification;
    match method.as_str() {
        DidOpenTextDocument::METHOD => {
            let params: DidOpenTextDocumentParams = serde_json::from_value(params).ok()?;
            let document = params.text_document;
            Some(opened(documents, document.uri, document.text, document.version))
        }
        DidChangeTextDocument::METHOD => {
            let params: DidChangeTextDocumentParams = serde_json::from_value(params).ok()?;
            let text = params.content_changes.into_iter().next_back()?.text;
            Some(opened(documents, params.text_document.uri, text, params.text_document.version))
        }
        DidCloseTextDocument::METHOD => {
            let params: DidCloseTextDocumentParams = serde_json::from_value(params).ok()?;
            documents.close(&params.text_document.uri);
            Some(PublishDiagnosticsParams::new(params.text_document.uri, Vec::new(), None))
        }
        _ => None,
    }
}

fn opened(documents: &mut Documents, uri: Uri, text: String, version: i32) -> PublishDiagnosticsParams {
    let checked = documents.open(&uri, text);
    PublishDiagnosticsParams::new(uri.clone(), answer::findings(&uri, checked), Some(version))
}
