// SPDX-License-Identifier: Apache-2.0
// Keyboard shortcuts. They do nothing inside fields, and the list of keys has a switch for them.

const pages = {
  f: ['Fleet', ''], n: ['Nodes', 'nodes'], x: ['Failures', 'failures'], c: ['Change', 'change'],
  o: ['Rollouts', 'rollouts'],
  q: ['Query', 'query'], k: ['Classes and keys', 'code'], e: ['Exports', 'exports'], p: ['Packages', 'packages'],
  m: ['Modules', 'modules'], a: ['Certificates', 'certificates'], s: ['Server', 'server'],
};
const setting = 'console-keys';
let afterG = false;
let dialog = null;

const enabled = () => localStorage.getItem(setting) !== 'off';
const search = () => document.getElementById('search');

function row(list, keys, text) {
  const term = document.createElement('dt');
  for (const key of keys) {
    const kbd = document.createElement('kbd');
    kbd.textContent = key;
    term.append(kbd, ' ');
  }
  const about = document.createElement('dd');
  about.textContent = text;
  list.append(term, about);
}

function showKeys() {
  if (dialog) return dialog.open ? dialog.close() : dialog.showModal();
  dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'keys-title');
  const title = document.createElement('h2');
  title.id = 'keys-title';
  title.textContent = 'Keys';
  const list = document.createElement('dl');
  list.className = 'kv in';
  row(list, ['/'], 'Search');
  for (const [key, [name]] of Object.entries(pages)) row(list, ['g', key], name);
  row(list, ['j', 'k'], 'Next and previous row');
  row(list, ['[', ']'], 'Older and newer run, or previous and next page');
  row(list, ['w'], 'Why a value is what it is');
  row(list, ['?'], 'This list');
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = enabled();
  box.addEventListener('change', () => localStorage.setItem(setting, box.checked ? 'on' : 'off'));
  label.append(box, ' Use these keys');
  const form = document.createElement('form');
  form.method = 'dialog';
  const close = document.createElement('button');
  close.textContent = 'Close';
  form.append(close);
  dialog.append(title, list, label, form);
  document.body.append(dialog);
  dialog.showModal();
}

/** Moves the focus to the first link of the next or previous row of the main table or list. */
function moveRow(step) {
  const links = [...document.querySelectorAll('main tbody tr, main .todo li, main .issue, main .ev')]
    .map((element) => element.querySelector('a')).filter(Boolean);
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

/** Opens the explanation of the row that has the focus, or else the first one of the page. */
function openWhy() {
  const row = document.activeElement.closest('tr, .ev');
  const links = 'a[href$="#why"]';
  (row?.querySelector(links) ?? document.querySelector(`main ${links}`))?.click();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest('input, textarea, select, [contenteditable]');
  if (field) {
    if (event.key === 'Escape') field.blur();
    return;
  }
  if (!search() || (!enabled() && event.key !== '?')) return;
  const wasG = afterG;
  afterG = false;
  if (wasG && pages[event.key]) {
    location.assign(`/console/${pages[event.key][1]}`);
  } else if (event.key === 'g') {
    afterG = true;
  } else if (event.key === '/') {
    event.preventDefault();
    search().focus();
  } else if (event.key === 'j' || event.key === 'k') {
    moveRow(event.key === 'j' ? 1 : -1);
  } else if (event.key === '[' || event.key === ']') {
    document.querySelector(`main a[rel=${event.key === '[' ? 'prev' : 'next'}]`)?.click();
  } else if (event.key === 'w') {
    openWhy();
  } else if (event.key === '?') {
    showKeys();
  }
});
