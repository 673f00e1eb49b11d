// SPDX-License-Identifier: Apache-2.0
// Loads the page again while the server computes a result, and replaces the element that has
// `data-poll` (the pause in milliseconds). Opened details stay open, and the focus stays.

async function load(element) {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
  if (answer.redirected) return location.reload();  // the session has ended
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.getElementById(element.id);
  if (!fresh) return location.reload();
  for (const details of element.querySelectorAll('details[open][id]')) {
    const same = fresh.querySelector(`#${CSS.escape(details.id)}`);
    if (same) same.open = true;
  }
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const place = focused ? [...element.querySelectorAll('a, button, summary')].indexOf(focused) : -1;
  element.replaceWith(fresh);
  if (place >= 0) [...fresh.querySelectorAll('a, button, summary')][place]?.focus({ preventScroll: true });
  fresh.dispatchEvent(new CustomEvent('console:content', { bubbles: true }));
  watch(fresh);
}

function watch(element, failures = 0) {
  if (!element?.dataset.poll) return;
  const pause = Number(element.dataset.poll) * 2 ** Math.min(failures, 5);
  setTimeout(() => load(element).catch(() => watch(element, failures + 1)), pause);
}

watch(document.querySelector('[data-poll]'));
