// SPDX-License-Identifier: Apache-2.0
// Scrolls the strip of pages to the current one on narrow screens.

const strip = document.querySelector('.side');
const current = strip?.querySelector('[aria-current]');
if (current && strip.scrollWidth > strip.clientWidth) {
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}
