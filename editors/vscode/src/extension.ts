// SPDX-License-Identifier: Apache-2.0
// Starts `bunraku lsp` and adds a few commands. Everything else is the server's work.
import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';
import { initializationOptions, patterns, serverCommand, type Settings } from './server';

let client: LanguageClient | undefined;

function settings(): Settings {
  const section = vscode.workspace.getConfiguration('bunraku');
  return {
    path: section.get('path', 'bunraku'),
    arguments: section.get<string[]>('arguments', []),
    node: section.get('node', ''),
    factsFrom: section.get('factsFrom', ''),
    modulepath: section.get<string[]>('modulepath', []),
  };
}

async function start(): Promise<void> {
  const current = settings();
  const options: LanguageClientOptions = {
    documentSelector: [
      ...patterns.map((pattern) => ({ scheme: 'file', pattern })),
      ...['puppet', 'epp'].map((language) => ({ scheme: 'untitled', language })),
    ],
    initializationOptions: initializationOptions(current),
    synchronize: {
      configurationSection: 'bunraku',
      fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{pp,epp,erb,rb,yaml,yml,json,conf}'),
    },
  };
  client = new LanguageClient('bunraku', 'Bunraku', serverCommand(current), options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(
      `The language server '${current.path}' does not start: ${error}`,
      'Open settings',
    );
    if (choice) await vscode.commands.executeCommand('workbench.action.openSettings', 'bunraku.path');
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function chooseNode(): Promise<void> {
  const section = vscode.workspace.getConfiguration('bunraku');
  const node = await vscode.window.showInputBox({
    prompt: 'Name of the node whose values hovers and hints show',
    value: section.get('node', ''),
  });
  if (node !== undefined) await section.update('node', node, vscode.ConfigurationTarget.Workspace);
}

/** Shows the nodes that the unsaved text changes, as a document beside the editor. */
async function impactOfDocument(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!client || !document) return;
  const result = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Bunraku: impact' },
    () =>
      client!.sendRequest<{ markdown: string }>('workspace/executeCommand', {
        command: 'bunraku.impact',
        arguments: [document.uri.toString()],
      }),
  );
  const shown = await vscode.workspace.openTextDocument({ language: 'markdown', content: result.markdown });
  await vscode.window.showTextDocument(shown, vscode.ViewColumn.Beside);
}

async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand('editor.action.codeAction', {
    kind: 'source.fixAll',
    apply: 'first',
  });
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const commands: Record<string, () => Promise<void>> = {
    'bunraku.restart': async () => {
      await stop();
      await start();
    },
    'bunraku.chooseNode': chooseNode,
    'bunraku.impactOfDocument': impactOfDocument,
    'bunraku.fixAll': fixAll,
  };
  for (const [name, run] of Object.entries(commands))
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  // The server takes other settings while it runs.
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration('bunraku.path') && !event.affectsConfiguration('bunraku.arguments'))
        return;
      await stop();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
