// Starts `instrc lsp`; everything else the server does.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration("instrc").get("command");
  client = new LanguageClient(
    "instrc",
    "instrc",
    { command, args },
    {
      documentSelector: [{ language: "aug" }, { pattern: "**/*.vibe.json" }],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{*.vibe.json,*.aug,pyproject.toml}") },
    },
  );
  return client.start();
};

exports.deactivate = () => client && client.stop();
