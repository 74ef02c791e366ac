// Starts `tessera lsp` for .fa files; everything else is the server's.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function start() {
  const settings = vscode.workspace.getConfiguration('tessera');
  const server = {
    command: settings.get('command'),
    args: ['lsp', ...settings.get('arguments')],
  };
  const options = {
    documentSelector: [{ scheme: 'file', language: 'tessera' }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{fa,cpp}') },
  };
  client = new LanguageClient('tessera', 'Tessera', server, options);
  return client.start();
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!change.affectsConfiguration('tessera')) return;
      if (client) await client.stop();
      await start();
    })
  );
  return start();
};

exports.deactivate = () => client && client.stop();
