// SPDX-License-Identifier: Apache-2.0
// Questions from the issue trackers of other consoles, each answered from the fleet page within
// three clicks. Text that is typed into a field is no click.
//   node tasks.mjs SERVER TOKEN [--chromium PATH]
import { chromium } from 'playwright-core';

const [server, token, ...rest] = process.argv.slice(2);
const option = (name) => { const at = rest.indexOf(name); return at < 0 ? null : rest[at + 1]; };
const failures = [];
const browser = await chromium.launch({
  executablePath: option('--chromium') ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

/** Waits until the server has computed the result that a page shows. */
async function settle(page) {
  while (await page.locator('[data-poll]').count() > 0) await page.reload();
}

class Visitor {
  constructor(page) {
    this.page = page;
    this.clicks = 0;
  }
  async click(selector) {
    this.clicks += 1;
    const target = this.page.locator(selector).first();
    await Promise.all([this.page.waitForNavigation(), target.click()]);
    await settle(this.page);
  }
  /** Types into a field and presses Enter. */
  async type(selector, text) {
    await this.page.fill(selector, text);
    await Promise.all([this.page.waitForNavigation(), this.page.press(selector, 'Enter')]);
  }
  async shows(selector, text) {
    const found = this.page.locator(selector).filter({ hasText: text });
    if (await found.count() === 0) throw new Error(`${this.page.url()} has no ${selector} with ${text}`);
  }
}

const nodeLink = 'td a[href^="/console/nodes/"]';
const side = (name) => `.side a[href="/console/${name}"]`;
const tasks = {
  'Which nodes would change if they did not run in noop?': async (v) => {
    await v.click('.tiles a[href*="state=noop"]');
    await v.shows(nodeLink, 'example.org');
  },
  'Which nodes have not reported?': async (v) => {
    await v.click('.tiles a[href*="state=silent"]');
    await v.shows(nodeLink, 'example.org');
  },
  'How did the catalog of a node change over time?': async (v) => {
    await v.type('#search', v.node);
    await v.click('.tabs a[href$="/catalogs"]');
    await v.click('main form button');
    await v.shows('h1, main', '0600');
  },
  'What happened in a run, by class?': async (v) => {
    await v.click('.tiles a[href*="state=failed"]');
    await v.click('a[href^="/console/runs/"]');
    await v.shows('.grp h3', 'Class[');
  },
  'Which nodes have this combination of facts?': async (v) => {
    await v.click(side('nodes'));
    await v.type('#filter', "inventory { facts.role = 'web' and facts.os.release.major = '13' }");
    await v.shows(nodeLink, 'web');
  },
  'Which resource fails on which nodes of the fleet?': async (v) => {
    await v.click(side('failures'));
    await v.click('a[href^="/console/failures/"]');
    await v.shows('main a[href^="/console/nodes/"]', 'example.org');
  },
  'What drifted, and was corrected?': async (v) => {
    await v.click('.tiles a[href*="state=corrected"]');
    await v.click('a[href^="/console/runs/"]');
    await v.shows('main', '/etc/ssh/sshd_config');
  },
  'Which nodes does a change affect, and why?': async (v) => {
    await v.click(side('change'));
    await v.click('a[href$="to=feature"]');
    await v.shows('.grp', 'File[/etc/nginx/nginx.conf] content');
    await v.shows('.why', 'data/common.yaml#nginx::connections');
  },
  'Which data does no node read?': async (v) => {
    await v.click(side('code'));
    await v.click('.tabs a[href*="kind=key"]');
    await v.click('a.chip[href*="unused=true"]');
    await v.shows('td', 'profile::base::removed_long_ago');
  },
  'Which exported resources does nobody collect?': async (v) => {
    await v.click(side('exports'));
    await v.click('td a[href^="/console/exports/"]');
    await v.click('a.chip[href*="show=orphans"]');
    await v.shows('td', 'nobody');
  },
  'Which environments have which version of a module?': async (v) => {
    await v.click(side('modules'));
    await v.click('td a[href="/console/modules/acme-nginx"]');
    await v.shows('td', 'production');
    await v.shows('a.chip', '1.1.0');
  },
  'Which nodes have a class?': async (v) => {
    await v.click(side('code'));
    await v.click('td a[href*="/code/class?"][href$="name=nginx"]');
    await v.shows('.chip a', 'web');
  },
};

Object.assign(tasks, {
  'Where does the value of a failed resource come from?': async (v) => {
    await v.click('.todo a[href^="/console/failures/"]:has-text("Package[nginx]")');
    await v.click('tr:has(a[href^="/console/nodes/web"]) a[href^="/console/runs/"]');
    await v.click('.ev a[href$="#why"]');
    await v.shows('#why .hit', 'nginx::version');
  },
  'Which nodes does a rollout have trouble with, and why?': async (v) => {
    await v.click(side('rollouts'));
    await v.click('tr:has-text("next") a[href^="/console/rollouts/"]');
    await v.click('a.chip[href*="verdict=failed"]');
    await v.shows('td', 'Package[nginx] failed');
  },
  'What does a rollout that went back leave on the nodes?': async (v) => {
    await v.click(side('rollouts'));
    await v.click('tr:has-text("edge"):has-text("returned") a[href^="/console/rollouts/"]');
    await v.shows('[data-part=rollout-leftovers] td', 'File[/etc/ntp.keys]');
    await v.shows('[data-part=rollout-leftovers] td', 'the new version created it');
  },
  'Which certificates expire, and which requests wait?': async (v) => {
    await v.click(side('certificates'));
    await v.shows('td', 'new.example.org');
    await v.shows('td', 'web1.example.org');
  },
  'Which nodes still run an old version of the code?': async (v) => {
    await v.click('td a[href*="/nodes?code=b81e07d2"]');
    await v.shows(nodeLink, 'example.org');
  },
});

const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1440, height: 1000 } });
const page = await context.newPage();
await page.goto(`${server}/console/`);
await page.fill('#token', token);
await Promise.all([page.waitForNavigation(), page.click('button')]);
for (const [question, answer] of Object.entries(tasks)) {
  await page.goto(`${server}/console/nodes`);
  const visitor = new Visitor(page);
  visitor.node = await page.locator(nodeLink).last().textContent();
  await page.goto(`${server}/console/`);
  try {
    await answer(visitor);
    if (visitor.clicks > 3) failures.push(`${question} ${visitor.clicks} clicks`);
  } catch (error) {
    failures.push(`${question} ${error.message.split('\n')[0]}`);
  }
}
await browser.close();
for (const text of failures) console.log(`FAILED: ${text}`);
console.log(`${Object.keys(tasks).length} tasks, ${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
