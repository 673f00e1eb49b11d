// SPDX-License-Identifier: Apache-2.0
// How to start the server. Without the API of the editor, so that tests can use it.

/** The settings of the section "bunraku". */
export interface Settings {
  path: string;
  arguments: string[];
  node: string;
  factsFrom: string;
  modulepath: string[];
}


/** Files that the server knows, whatever their language is. */
export const patterns = [
  '**/*.{pp,epp,erb}',
  '**/*.{yaml,yml}',
  '**/{Puppetfile,metadata.json,environment.conf}',
];

export function serverCommand(settings: Settings): { command: string; args: string[] } {
  return { command: settings.path || 'bunraku', args: ['lsp', '--stdio', ...settings.arguments] };
}

/** Returns the initialization options. Empty settings are left out. */
export function initializationOptions(settings: Settings): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (settings.node) options.node = settings.node;
  if (settings.factsFrom) options.factsFrom = settings.factsFrom;
  if (settings.modulepath.length > 0) options.modulepath = settings.modulepath;
  return options;
}
