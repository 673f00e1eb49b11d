// SPDX-License-Identifier: Apache-2.0
// Starts the server as the extension does, and speaks with it through the protocol library of
// vscode-languageclient. BUNRAKU is the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const protocol = require('vscode-languageserver-protocol/node');
const { initializationOptions, patterns, serverCommand } = require('../dist/server.js');

const here = new URL('..', import.meta.url);
const manifest = JSON.parse(await readFile(new URL('package.json', here), 'utf8'));
const bundle = await readFile(new URL('dist/extension.js', here), 'utf8');

const settings = {
  path: process.env.BUNRAKU ?? 'bunraku',
  arguments: [],
  node: '',
  factsFrom: '',
  modulepath: [],
};

/** Runs `use` with a connection to a server whose workspace has the files. */
async function session(files, use) {
  const root = await mkdtemp(join(tmpdir(), 'bunraku-vscode-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const { command, args } = serverCommand(settings);
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const uri = (name) => pathToFileURL(join(root, name)).toString();
  try {
    const result = await connection.sendRequest(protocol.InitializeRequest.type, {
      processId: process.pid,
      rootUri: pathToFileURL(root).toString(),
      capabilities: {},
      workspaceFolders: [{ uri: pathToFileURL(root).toString(), name: 'root' }],
      initializationOptions: initializationOptions(settings),
    });
    await connection.sendNotification(protocol.InitializedNotification.type, {});
    await use({ connection, uri, capabilities: result.capabilities });
    await connection.sendRequest(protocol.ShutdownRequest.type);
    await connection.sendNotification(protocol.ExitNotification.type);
    assert.equal(await ended, 0);
  } finally {
    connection.dispose();
    server.kill();
    await rm(root, { recursive: true });
  }
}

test('diagnostics, hover and semantic tokens', async () => {
  const text = "class app (Integer $port = 'x') {\n  notice($port)\n}\n";
  await session({ 'modules/app/manifests/init.pp': text }, async ({ connection, uri, capabilities }) => {
    const document = uri('modules/app/manifests/init.pp');
    const published = new Promise((resolve) => {
      connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
        if (params.uri === document) resolve(params.diagnostics);
      });
    });
    await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
      textDocument: { uri: document, languageId: 'puppet', version: 1, text },
    });
    const diagnostics = await published;
    assert.ok(diagnostics.some((each) => each.code === 'type-mismatch' && each.range.start.line === 0));
    const hover = await connection.sendRequest(protocol.HoverRequest.type, {
      textDocument: { uri: document },
      position: { line: 1, character: 11 },
    });
    assert.match(JSON.stringify(hover.contents), /Integer/);
    const tokens = await connection.sendRequest(protocol.SemanticTokensRequest.type, {
      textDocument: { uri: document },
    });
    assert.ok(capabilities.semanticTokensProvider.legend.tokenTypes.length > 0);
    assert.ok(tokens.data.length > 0 && tokens.data.length % 5 === 0);
  });
});

test('the program knows the commands that the extension sends', async () => {
  await session({}, async ({ capabilities }) => {
    assert.ok(capabilities.executeCommandProvider.commands.includes('bunraku.impact'));
    assert.ok(bundle.includes('"bunraku.impact"'));
  });
});

test('every command and setting of package.json is in the bundle', () => {
  for (const { command } of manifest.contributes.commands) assert.ok(bundle.includes(`"${command}"`), command);
  for (const name of Object.keys(manifest.contributes.configuration.properties)) {
    const word = name.replace('bunraku.', '');
    assert.ok(word === 'trace.server' || bundle.includes(`"${word}"`), name);
  }
  // The server declares these commands, so the client registers them itself.
  for (const { command } of manifest.contributes.commands)
    assert.ok(!['bunraku.impact', 'bunraku.readers'].includes(command));
});

test('settings become arguments and initialization options', () => {
  assert.deepEqual(serverCommand({ ...settings, path: '', arguments: ['--node', 'a'] }), {
    command: 'bunraku',
    args: ['lsp', '--stdio', '--node', 'a'],
  });
  assert.deepEqual(initializationOptions({ ...settings, node: 'a', factsFrom: 'f', modulepath: ['/m'] }), {
    node: 'a',
    factsFrom: 'f',
    modulepath: ['/m'],
  });
  assert.deepEqual(initializationOptions(settings), {});
  assert.equal(patterns.length, 3);
});
