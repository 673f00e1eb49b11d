#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the contrast of the console's colours in both themes (WCAG 2.1: 4.5 for text, 3 for graphics)."""
import re
import sys

TEXT = ['text', 'muted', 'accent', 'failed', 'silent', 'corrected', 'changed', 'noop', 'never', 'added', 'removed',
        'string']
GRAPHICS = ['unchanged', 'line-strong']
GROUNDS = ['bg', 'sunken', 'raised', 'hover']
SOFT = ['failed', 'silent', 'corrected', 'changed', 'noop', 'added', 'removed']


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def main():
    style = open(sys.argv[1], encoding='utf-8').read()
    themes = re.findall(r':root \{([^}]*)\}', style)
    bad = 0 if len(themes) == 2 else 1
    light = {}
    for theme in themes:
        colours = light | dict(re.findall(r'--([\w-]+): (#[0-9a-f]{6});', theme))
        light = light or colours
        pairs = [(c, g, 4.5) for c in TEXT for g in GROUNDS] + [(c, g, 3) for c in GRAPHICS for g in GROUNDS]
        pairs += [(c, c + '-soft', 4.5) for c in SOFT] + [('on-accent', 'accent', 4.5), ('text', 'accent-soft', 4.5)]
        for colour, ground, least in pairs:
            ratio = contrast(colours[colour], colours[ground])
            if ratio < least:
                print(f'FAILED: {colour} on {ground}: {ratio:.2f}, at least {least} expected')
                bad += 1
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
