// Starts `keyform lsp` for .kf files.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("keyform").get("command", "keyform");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("keyform", "Keyform", server, { documentSelector: [{ language: "keyform" }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
