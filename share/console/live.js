// SPDX-License-Identifier: Apache-2.0
// Shows new runs on an open page. The server sends events; the page then fetches itself again and
// replaces the parts that differ (data-part). A list whose rows would move (data-rows) waits until
// the reader asks for it.

const mark = document.querySelector('[data-live]');
const shortest = 1000;
const longest = 60000;
const between = 5000;

let source = null;
let last = '';
let pause = shortest;
let retry = 0;
let offline = null;
let refreshAt = 0;
let planned = 0;
let waiting = 0;
let stopped = false;

function showState() {
  mark.hidden = false;
  mark.classList.toggle('off', offline !== null);
  mark.textContent = offline === null ? 'live'
    : `${stopped ? 'signed out' : 'not live'} since ${offline.toLocaleTimeString()}`;
}

/** The content of an element without what changes by itself. */
function steady(element) {
  const copy = element.cloneNode(true);
  for (const time of copy.querySelectorAll('time, [data-at]')) {
    time.textContent = '';
    time.removeAttribute('title');
  }
  return copy.innerHTML;
}

const rowKeys = (element) => [...element.querySelectorAll('tbody tr, .issue')]
  .map((row) => row.querySelector('a')?.getAttribute('href') ?? '').join('\n');

const parts = (page) => [...page.querySelectorAll('[data-part]')]
  .map((part) => part.dataset.part).join(' ');

function replace(part, next) {
  const focused = part.contains(document.activeElement)
    ? document.activeElement.getAttribute('href') : null;
  const scrolled = [...part.querySelectorAll('.scroll')].map((box) => box.scrollLeft);
  part.replaceWith(next);
  next.querySelectorAll('.scroll').forEach((box, i) => { box.scrollLeft = scrolled[i] ?? 0; });
  if (focused) next.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  next.dispatchEvent(new CustomEvent('console:content', { bubbles: true }));
}

function toast() {
  document.querySelector('.toast')?.remove();
  if (waiting === 0) return;
  const box = document.createElement('div');
  box.className = 'toast';
  box.setAttribute('role', 'status');
  const button = document.createElement('button');
  button.textContent = 'Show';
  button.addEventListener('click', () => refresh(true));
  box.append(waiting === 1 ? 'One new run changes this list. '
    : `${waiting} new runs change this list. `, button);
  document.body.append(box);
}

/** Fetches the page again and applies what differs; rows move only if `all` is true. */
async function refresh(all) {
  refreshAt = Date.now();
  let text;
  try {
    const answer = await fetch(location.href, {
      headers: { Accept: 'text/html', 'X-Console-Live': '1' }, redirect: 'error', cache: 'no-store',
    });
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    return;  // The stream notices that the server is away.
  }
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  if (parts(document) !== parts(fresh)) {
    // For example, the first node has reported.
    replace(document.querySelector('main'), document.adoptNode(fresh.querySelector('main')));
    waiting = 0;
    return toast();
  }
  let held = false;
  for (const part of document.querySelectorAll('[data-part]')) {
    const next = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!next || steady(part) === steady(next)) continue;
    if (!all && 'rows' in part.dataset && rowKeys(part) !== rowKeys(next)) {
      held = true;
    } else {
      replace(part, document.adoptNode(next));
    }
  }
  if (!held) waiting = 0;
  toast();
}

function plan(count) {
  waiting += count;
  if (planned) return;
  // Pages of many readers do not fetch at the same moment.
  const delay = Math.max(refreshAt + between - Date.now(), 0) + 100 + Math.random() * 400;
  planned = setTimeout(() => { planned = 0; refresh(false); }, delay);
}

function onRuns(event) {
  last = event.lastEventId;
  const { count, runs } = JSON.parse(event.data);
  const node = document.querySelector('[data-node]')?.dataset.node;
  const own = node === undefined || runs.length === 0 ? count
    : runs.filter((run) => run.node === node).length;
  if (own > 0) plan(own);
}

function close() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

/** A stream of events does not tell the status of an answer that is not a stream. */
async function isSignedOut(address) {
  const request = new AbortController();
  try {
    const answer = await fetch(address, {
      headers: { Accept: 'text/event-stream' }, cache: 'no-store', redirect: 'manual', signal: request.signal,
    });
    request.abort();
    return answer.status === 401;
  } catch {
    return false;
  }
}

async function onError() {
  const refused = source.readyState === EventSource.CLOSED;
  const address = source.url;
  close();
  if (refused && await isSignedOut(address)) stopped = true;
  if (source === null) openLater();
}

function openLater() {
  close();
  offline ??= new Date();
  showState();
  if (stopped || document.hidden) return;
  retry = setTimeout(open, pause * (0.75 + Math.random() / 2));
  pause = Math.min(pause * 2, longest);
}

function open() {
  close();
  const address = new URL('/console/events', location.href);
  if (last) address.searchParams.set('last', last);
  if (document.querySelector('[data-follow=rollouts]')) address.searchParams.set('follow', 'rollouts');
  source = new EventSource(address);
  source.addEventListener('open', () => { pause = shortest; offline = null; showState(); });
  source.addEventListener('message', (event) => { last = event.lastEventId; });
  source.addEventListener('runs', onRuns);
  source.addEventListener('rollouts', (event) => { last = event.lastEventId; plan(0); });
  source.addEventListener('reset', (event) => { last = event.lastEventId; plan(1); });
  source.addEventListener('end', (event) => {
    if (JSON.parse(event.data).again) return open();
    stopped = true;
    openLater();
  });
  source.addEventListener('error', onError);
}

// Browsers allow few connections to a server, so hidden pages have none.
function follow() {
  if (stopped) return;
  if (document.hidden) close(); else if (!source) open();
}

if (mark && document.querySelector('main [data-part]')) {
  document.addEventListener('visibilitychange', follow);
  addEventListener('pagehide', close);
  addEventListener('pageshow', (event) => { if (event.persisted) follow(); });
  follow();
}
