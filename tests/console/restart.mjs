// SPDX-License-Identifier: Apache-2.0
// Pages that are open while the server stops and starts again, and while the session ends.
//   node restart.mjs SERVER TOKEN [--chromium PATH]
// Prints "open" when its pages are open, and expects a line on standard input after each step that it
// asks for: "stop" and "start".
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [server, token, ...rest] = process.argv.slice(2);
const option = (name) => { const at = rest.indexOf(name); return at < 0 ? null : rest[at + 1]; };
const failures = [];
function check(condition, text) { if (!condition) failures.push(text); }

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
/** Asks the caller to do something with the server, and waits until it is done. */
async function ask(step) {
  console.log(step);
  await answers.next();
}

const browser = await chromium.launch({
  executablePath: option('--chromium') ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
const page = await context.newPage();

async function signIn(target) {
  await page.fill('#token', token);
  await Promise.all([page.waitForURL(target), page.click('main button')]);
}

/** Waits until the mark in the frame of the page has a text. */
async function marked(text) {
  await page.locator('[data-live]', { hasText: text }).waitFor({ timeout: 60000 })
    .catch(async () => failures.push(`the page says ${await page.locator('[data-live]').textContent()}, not ${text}`));
}

await page.goto(`${server}/console/nodes?state=failed`);
await signIn('**/console/nodes?state=failed');
await marked(/^live$/);
const rows = await page.locator('tbody tr').count();
const action = await context.newPage();
await action.goto(`${server}/console/certificates/db2.example.org?confirm=revoke`);

await ask('stop');
await marked(/^not live since/);
check(await page.locator('tbody tr').count() === rows, 'the rows stay while the server is away');
await ask('start');

// Sessions do not survive a restart. The page says so and does not try again without end.
await marked(/^signed out since/);
check(await page.locator('tbody tr').count() === rows, 'the rows stay after the session ended');
await action.click('main form button');
check((await action.locator('main').textContent()).includes('nothing was done'), 'an expired session revokes nothing');
await action.fill('#token', token);
await Promise.all([action.waitForURL('**/db2.example.org?confirm=revoke'), action.click('main button')]);
check(await action.locator('main form button').count() === 1, 'the sign-in leads back to the action');
await page.reload();
await marked(/^live$/);
check(await page.locator('tbody tr').count() === rows, 'the same rows after the sign-in');

// Another tab signs out.
const other = await context.newPage();
await other.goto(`${server}/console/account`);
await other.click('form[action$="/sign-out"] button');
await marked(/^signed out since/);
await browser.close();
for (const text of failures) console.log(`FAILED: ${text}`);
process.exit(failures.length > 0 ? 1 : 0);
