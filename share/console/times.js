// SPDX-License-Identifier: Apache-2.0
// Shows times in the viewer's zone, and keeps relative times current. The server writes UTC, which
// the tooltip of an absolute time repeats.

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

// The pages are in English, so the names of months are, too.
const hours = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const clock = { ...hours, second: '2-digit' };
const format = (options) => new Intl.DateTimeFormat('en-GB', options);
const full = format({ ...clock, day: 'numeric', month: 'short', year: 'numeric', timeZoneName: 'short' });
const formats = [
  [/^\d+ \w+ \d{4} \d\d:\d\d:\d\d UTC/, full],
  [/^\d\d:\d\d:\d\d/, format(clock)],
  [/^\d\d:\d\d/, format(hours)],
];
const local = (formatter, time) => formatter.format(time).replace(',', '');
const done = new WeakSet();

/** Replaces the time in UTC at the beginning of the text of an element with `data-at`. */
function localize(element) {
  const time = Date.parse(element.dataset.at);
  if (Number.isNaN(time) || done.has(element)) return;
  done.add(element);
  const found = formats.find(([pattern]) => pattern.test(element.textContent));
  if (!found) return;
  if (found[1] === full && element instanceof HTMLElement) element.title = element.textContent;
  element.textContent = element.textContent.replace(found[0], local(found[1], time));
}

/** Prepares the times below `root`. Other modules call it for new content. */
function prepare(root) {
  for (const element of root.querySelectorAll('time[data-ago]')) {
    const time = Date.parse(element.dateTime);
    if (!Number.isNaN(time)) element.title = local(full, time);
  }
  root.querySelectorAll('[data-at]').forEach(localize);
}

prepare(document);
document.addEventListener('console:content', (event) => prepare(event.target));
setInterval(() => document.querySelectorAll('time[data-ago]').forEach(update), 10000);
