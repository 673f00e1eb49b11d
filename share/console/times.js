// SPDX-License-Identifier: Apache-2.0
// Keeps relative times current, and shows the absolute time in the viewer's zone on hover.

const units = [[60, 's', 1], [3600, 'min', 60], [172800, 'h', 3600], [63072000, 'days', 86400]];

function span(seconds) {
  for (const [limit, name, size] of units) {
    if (seconds < limit) return `${Math.floor(seconds / size)} ${name}`;
  }
  return `${(seconds / 31557600).toFixed(1)} years`;
}

function update(element) {
  const time = Date.parse(element.dateTime);
  if (Number.isNaN(time)) return;
  const seconds = (Date.now() - time) / 1000;
  const text = seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`;
  if (element.textContent !== text) element.textContent = text;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** Prepares the <time data-ago> elements below `root`. Other modules call it for new content. */
function prepare(root) {
  for (const element of root.querySelectorAll('time[data-ago]')) {
    const time = Date.parse(element.dateTime);
    if (!Number.isNaN(time)) element.title = full.format(time);
  }
}

prepare(document);
document.addEventListener('console:content', (event) => prepare(event.target));
setInterval(() => document.querySelectorAll('time[data-ago]').forEach(update), 10000);
