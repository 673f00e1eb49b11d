// SPDX-License-Identifier: Apache-2.0
// Opens every page of the console in Chromium, with and without JavaScript, at 360 and 1440 pixels.
// Checks with axe-core, the width of the page, the Content-Security-Policy and actions.
//   node browser.mjs SERVER TOKEN [--screenshots DIR] [--pictures DIR] [--chromium PATH]
// With --pictures, it only makes the pictures of the manual: each page in light and dark, small with
// the program pngquant.
import { execFile } from 'node:child_process';
import { readFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const [server, token, ...rest] = process.argv.slice(2);
const option = (name) => { const at = rest.indexOf(name); return at < 0 ? null : rest[at + 1]; };
const shots = option('--screenshots');
const pictures = option('--pictures');
const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const failures = [];
function check(condition, text) { if (!condition) failures.push(text); }

/** Pages by name. A function finds the address on a page that was opened before. */
const pages = [
  ['fleet', '/console/'],
  ['fleet-role', '/console/?by=role'],
  ['nodes', '/console/nodes?columns=role,os.release.full'],
  ['nodes-failed', '/console/nodes?state=failed'],
  ['nodes-none', '/console/nodes?value=none&fact=role'],
  ['node', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]')],
  ['node-runs', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/runs')],
  ['node-facts', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/facts?find=release')],
  ['node-catalog', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/catalog')],
  ['node-resource', (page) => catalogLink(page, 'File[', '&to=Service%5Bapp%5D')],
  ['node-why', (page) => catalogLink(page, 'Package[nginx]', '&why=ensure')],
  ['node-found', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/catalog?find=etc')],
  ['node-exports', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/exports')],
  ['node-packages', (page) => firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/packages')],
  ['run-failed', (page) => firstLink(page, '/console/nodes?state=failed', 'a[href^="/console/runs/"]')],
  ['run-corrected', (page) => firstLink(page, '/console/nodes?state=corrected', 'a[href^="/console/runs/"]')],
  ['failures', '/console/failures'],
  ['failure', (page) => firstLink(page, '/console/failures', 'a[href^="/console/failures/"]')],
  ['rollouts', '/console/rollouts'],
  ['rollout', (page) => rolloutLink(page)],
  ['rollout-bad', (page) => rolloutLink(page, '?verdict=bad')],
  ['rollout-returned', async (page) => await firstLink(page, '/console/rollouts?environment=edge',
    'tr:has-text("returned") a[href^="/console/rollouts/"]', '')],
  ['rollout-confirm', (page) => rolloutLink(page, '?confirm=pause')],
  ['certificates', '/console/certificates'],
  ['certificate', '/console/certificates/web1.example.org'],
  ['certificate-sign', '/console/certificates/new.example.org?confirm=sign'],
  ['query', '/console/query?q=' + encodeURIComponent('nodes[certname, report_timestamp] { order by certname limit 5 }')],
  ['query-wrong', '/console/query?q=' + encodeURIComponent('nodes { certname ~ }')],
  ['packages', '/console/packages'],
  ['change-start', '/console/change'],
  ['change', '/console/change?from=production&to=feature'],
  ['change-broken', '/console/change?from=production&to=broken'],
  ['change-none', '/console/change?from=production&to=production'],
  ['code', '/console/code'],
  ['code-unused', '/console/code?kind=key&unused=true'],
  ['code-class', '/console/code/class?name=profile%3A%3Abase'],
  ['code-key', '/console/code/key?name=nginx%3A%3Aconnections'],
  ['exports', '/console/exports'],
  ['exports-type', '/console/exports/Nagios_host'],
  ['modules', '/console/modules'],
  ['module', '/console/modules/acme-nginx'],
  ['search', '/console/search?q=nginx'],
  ['server', '/console/server'],
  ['account', '/console/account'],
  ['not-found', '/console/no-such-page'],
];

/** Waits until the server has computed the result that the page shows. */
async function settle(page, withScripts) {
  if (withScripts) await page.locator('[data-poll]').first().waitFor({ state: 'detached', timeout: 120000 });
  while (await page.locator('[data-poll]').count() > 0) await page.reload();
}

/** Completion of queries by keyboard. */
async function completion(context) {
  const page = await context.newPage();
  await page.goto(`${server}/console/query`);
  const type = async (text, expected) => {
    await page.fill('#q', '');
    await page.locator('#q').pressSequentially(text);
    await page.locator(`.choices:not([hidden]) li[data-name="${expected}"]`).first().waitFor({ timeout: 5000 })
      .catch(() => failures.push(`completion of ${text} has no ${expected}`));
  };
  await type('nod', 'nodes');
  await axe(page, 'completions');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  check(await page.inputValue('#q') === 'nodes', `a completion is accepted: ${await page.inputValue('#q')}`);
  await type('nodes[cert', 'certname');
  await type('resources[certname] { tit', 'title');
  await type('nodes { cached_catalog_status = "a" and res', 'resources');
  await type('inventory[certname] { facts.ro', 'facts.role');
  await type('["from","fac', 'facts');
  await type('["from","facts",["=","na', 'name');
  await page.keyboard.press('Escape');
  check(await page.locator('.choices:not([hidden])').count() === 0, 'Escape closes the completions');
  await page.fill('#q', 'nodes[certname] { limit 3 }');
  await Promise.all([page.waitForURL(/q=nodes%5B/), page.keyboard.press('Control+Enter')]);
  await page.goto(`${server}/console/nodes`);
  await page.locator('#filter').pressSequentially('certn');
  await page.waitForSelector('.choices:not([hidden]) li', { timeout: 5000 })
    .catch(() => failures.push('the filter of nodes has no completion'));
  await page.close();
}

async function firstLink(page, from, selector, suffix = '') {
  await page.goto(server + from);
  const href = await page.locator(selector).first().getAttribute('href');
  return href + suffix;
}

/** The address of the rollout of the environment `next`, which is under way. */
async function rolloutLink(page, suffix) {
  return await firstLink(page, '/console/rollouts?environment=next', 'td a[href^="/console/rollouts/"]', suffix);
}

/** The address of a resource in the catalog of a failed web server, whose code is in `production`. */
async function catalogLink(page, resource, suffix) {
  const catalog = await firstLink(page, '/console/nodes?state=failed',
    'tr:has-text("production") a[href^="/console/nodes/web"]', '/catalog');
  return await firstLink(page, catalog + '?find=' + encodeURIComponent(resource), 'li a.res', suffix);
}

/** Stores the report of a run that ended now. */
async function report(certname, status) {
  const time = new Date().toISOString();
  const body = {
    certname, puppet_version: '8.11.0', report_format: 12, configuration_version: 'live', start_time: time,
    end_time: time, producer_timestamp: time, producer: null, environment: 'production', transaction_uuid: null,
    catalog_uuid: null, code_id: null, status, cached_catalog_status: null, noop: false, noop_pending: false,
    corrective_change: false, metrics: [], logs: [], resources: status === 'failed' ? [{
      timestamp: time, resource_type: 'Exec', resource_title: 'live', skipped: false, file: null, line: null,
      containment_path: ['Stage[main]'], corrective_change: false, events: [{
        status: 'failure', timestamp: time, property: 'returns', name: null, new_value: 0, old_value: 1,
        message: 'The live failure', corrective_change: false }] }] : [],
  };
  const query = new URLSearchParams({ command: 'store_report', version: 8, certname });
  const answer = await fetch(`${server}/pdb/cmd/v1?${query}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  check(answer.ok, `the store accepts the report of ${certname}`);
}

/** Waits until `reached` returns true in the page. waitForFunction would need unsafe-eval. */
async function until(page, reached, argument) {
  for (let i = 0; i < 300; i += 1) {
    if (await page.evaluate(reached, argument)) return;
    await page.waitForTimeout(100);
  }
  failures.push(`${page.url()}: does not become true: ${reached} ${argument ?? ''}`);
}

/** New runs appear without a reload: in place, or behind a message if rows would move. */
async function live(context) {
  const open = async (path) => {
    const page = await context.newPage();
    await page.goto(server + path);
    await until(page, () => document.querySelector('[data-live]')?.textContent === 'live');
    await page.evaluate(() => { window.kept = true; });
    return page;
  };
  const shows = (page, text) => until(
    page, (wanted) => document.querySelector('main').textContent.includes(wanted), text);
  const finish = async (page, name) => {
    check(await page.evaluate(() => window.kept === true), `${name}: the page was not loaded again`);
    await page.close();
  };
  const fleet = await open('/console/');
  const total = await fleet.locator('[data-part=total]').textContent();
  await report('live1.example.org', 'unchanged');
  await until(fleet, (old) => document.querySelector('[data-part=total]').textContent !== old, total);
  await report('live1.example.org', 'failed');
  await shows(fleet, 'The live failure');
  await axe(fleet, 'fleet after an event');
  await finish(fleet, 'fleet');

  const node = await open('/console/nodes/live1.example.org');
  await shows(node, 'Last 2 runs');
  await report('live1.example.org', 'unchanged');
  await shows(node, 'Last 3 runs');
  await finish(node, 'node');

  const nodes = await open('/console/nodes?state=failed');
  await report('live2.example.org', 'failed');
  await nodes.locator('.toast').waitFor();
  check(!(await nodes.locator('main').textContent()).includes('live2'), 'rows do not move by themselves');
  await axe(nodes, 'nodes with a message');
  if (shots) await nodes.screenshot({ path: `${shots}/toast-1440-light.png` });
  await nodes.click('.toast button');
  await shows(nodes, 'live2.example.org');
  check(await nodes.locator('.toast').count() === 0, 'the message is gone');
  await finish(nodes, 'nodes');

  const list = await open('/console/failures');
  await report('live3.example.org', 'failed');
  await shows(list, 'The live failure');
  // The kind of failure has more nodes now, so that it may move ahead of others.
  await until(list, () => {
    document.querySelector('.toast button')?.click();
    return [...document.querySelectorAll('.issue')].some(
      (issue) => issue.textContent.includes('The live failure') && issue.textContent.includes('2 nodes'));
  });
  await finish(list, 'failures');
}

/** An operator pauses and resumes a rollout, in two tabs of which one is too late. */
async function control(context, withScripts) {
  const where = withScripts ? 'with JavaScript' : 'without JavaScript';
  const page = await context.newPage();
  await page.goto(server + await rolloutLink(page));
  const late = await context.newPage();
  await late.goto(`${page.url()}?confirm=halt`);
  const watched = await context.newPage();
  await watched.goto(page.url());
  await page.click('.tools a[href$="confirm=pause"]');
  await page.fill('input[name=reason]', 'a <b>test</b>');
  await page.click('main form button');
  check((await page.locator('main').textContent()).includes('Done: paused.'), `${where}: a rollout is paused`);
  check((await page.locator('main').textContent()).includes('a <b>test</b>'), `${where}: the reason is text`);
  if (withScripts) {
    await until(watched, () => document.querySelector('[data-part=rollout-state]').textContent.includes('paused'));
  }
  await late.click('main form button');
  check((await late.locator('main').textContent()).includes('has changed since'), `${where}: the second tab is too late`);
  await page.click('.tools a[href$="confirm=resume"]');
  await page.click('main form button');
  check((await page.locator('main').textContent()).includes('Done: resumed.'), `${where}: a rollout is resumed`);
  for (const each of [page, late, watched]) await each.close();
}

/** Absolute times are in the zone of the viewer, with UTC on hover. */
async function zones(browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, timezoneId: 'Asia/Kolkata' });
  await signIn(context);
  const page = await context.newPage();
  await page.goto(server + await firstLink(page, '/console/nodes?state=failed', 'td a[href^="/console/nodes/"]', '/runs'));
  const time = page.locator('td time[data-at]').first();
  const utc = (date) => `${date.getUTCDate()} ${date.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' })} `
    + `${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)}`;
  const at = new Date(await time.getAttribute('datetime'));
  const there = utc(new Date(at.getTime() + 5.5 * 3600000));
  check(await time.textContent() === `${there} GMT+5:30`, `a time in Kolkata: ${await time.textContent()}`);
  check(await time.getAttribute('title') === `${utc(at)} UTC`, 'the tooltip has UTC');
  await context.close();
}

/** A request is signed, and its certificate revoked. */
async function certificates(context) {
  const page = await context.newPage();
  const act = async (name, done) => {
    await page.click(`main a[href$="confirm=${name}"]`);
    await page.click('main form button');
    check((await page.locator('main').textContent()).includes(done), `a certificate is ${done}`);
  };
  await page.goto(`${server}/console/certificates`);
  await page.click('td a[href$="/new.example.org"]');
  await act('sign', 'signed');
  await act('revoke', 'revoked');
  await page.close();
}

async function signIn(context) {
  const page = await context.newPage();
  await page.goto(`${server}/console/nodes`);
  check(page.url().includes('/console/sign-in'), 'a page without a session leads to the sign-in');
  await page.fill('#token', token);
  await Promise.all([page.waitForURL('**/console/nodes'), page.click('button')]);
  await page.close();
}

/** Keys: search, the list of keys with its switch, and pages. */
async function keys(context) {
  const page = await context.newPage();
  await page.goto(`${server}/console/`);
  await page.keyboard.press('/');
  check(await page.evaluate(() => document.activeElement.id) === 'search', 'the key / focuses the search');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await axe(page, 'list of keys');
  await page.click('dialog input');
  await page.click('dialog button');
  await page.keyboard.press('/');
  check(await page.evaluate(() => document.activeElement.id) !== 'search', 'keys can be switched off');
  await page.keyboard.press('?');
  await page.click('dialog input');
  await page.click('dialog button');
  await page.keyboard.press('g');
  await Promise.all([page.waitForURL('**/console/nodes'), page.keyboard.press('n')]);
  await page.keyboard.press('j');
  check(await page.evaluate(() => document.activeElement.closest('tr') !== null), 'the key j moves to a row');
  await page.close();
}

async function axe(page, name) {
  // Playwright evaluates in the page's world, which the policy does not restrict.
  await page.evaluate(axeSource);
  const result = await page.evaluate(() => window.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  for (const v of result.violations) {
    failures.push(`${name}: axe ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
  }
}

async function visit(context, width, scheme, withScripts) {
  const page = await context.newPage();
  const problems = [];
  page.on('console', (m) => { if (m.type() === 'error' && !m.text().includes('status of 4')) problems.push(m.text()); });
  page.on('pageerror', (e) => problems.push(String(e)));
  for (const [name, target] of pages) {
    const path = typeof target === 'string' ? target : await target(page);
    const where = `${name} at ${width}, ${scheme}, ${withScripts ? 'with' : 'without'} JavaScript`;
    const answer = await page.goto(server + path);
    const expected = name === 'not-found' ? 404 : name === 'query-wrong' ? 400 : 200;
    check(answer.status() === expected, `${where}: status ${answer.status()}`);
    await settle(page, withScripts);
    check((await page.locator('h1').count()) === 1, `${where}: not exactly one h1`);
    if (withScripts) {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      check(wide <= 0, `${where}: ${wide} pixels wider than the window`);
      await axe(page, where);
    }
    if (shots && withScripts) await page.screenshot({ path: `${shots}/${name}-${width}-${scheme}.png` });
  }
  for (const text of problems) failures.push(`${width} ${scheme}: ${text}`);
  await page.close();
}

/** The pages of the manual's pictures, by the name of the picture. */
const pictured = new Map(Object.entries({
  fleet: 'fleet', 'fleet-role': 'fleet-by-role', nodes: 'nodes', node: 'node', 'node-facts': 'node-facts',
  'node-why': 'catalog-why', 'node-catalog': 'catalog', 'run-failed': 'run', failures: 'failures', failure: 'failure',
  change: 'change', rollouts: 'rollouts', rollout: 'rollout', 'rollout-confirm': 'rollout-confirm', query: 'query',
  code: 'code', 'code-class': 'class', exports: 'exports', packages: 'packages', modules: 'modules',
  certificates: 'certificates', 'certificate-sign': 'certificate', server: 'server', search: 'search',
}));

async function takePictures(browser) {
  await mkdir(pictures, { recursive: true });
  for (const scheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 750 }, colorScheme: scheme });
    await signIn(context);
    const page = await context.newPage();
    for (const [name, target] of pages) {
      if (!pictured.has(name)) continue;
      await page.goto(server + (typeof target === 'string' ? target : await target(page)));
      await settle(page, true);
      const path = `${pictures}/${pictured.get(name)}-${scheme}.png`;
      await page.screenshot({ path });
      await new Promise((done, failed) => {
        execFile('pngquant', ['32', '--strip', '--speed', '1', '--force', '--output', path, path],
          (error) => { if (error) failed(error); else done(); });
      });
    }
    await context.close();
  }
}

if (shots) await mkdir(shots, { recursive: true });
const browser = await chromium.launch({
  executablePath: option('--chromium') ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
if (pictures) {
  await takePictures(browser);
  await browser.close();
  process.exit();
}
for (const [width, scheme, scripts] of [[1440, 'light', true], [1440, 'dark', true], [360, 'light', true],
  [360, 'dark', true], [1440, 'light', false], [360, 'light', false]]) {
  const context = await browser.newContext({
    viewport: { width, height: width > 1000 ? 1000 : 780 }, colorScheme: scheme, javaScriptEnabled: scripts,
  });
  await signIn(context);
  await visit(context, width, scheme, scripts);
  if (scripts && width > 1000 && scheme === 'light') await keys(context);
  if (width > 1000 && scheme === 'light') await control(context, scripts);
  if (!scripts && width > 1000) await certificates(context);
  if (scripts && scheme === 'light') await completion(context);
  await context.close();
}
await zones(browser);
// Last, because its nodes have neither facts nor catalogs.
const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
await signIn(context);
await live(context);
await browser.close();
for (const text of failures) console.log(`FAILED: ${text}`);
console.log(`${pages.length} pages, ${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
