/** Text has enough contrast to its background: WCAG AA, 4.5 to 1, in light and in dark. */
import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

type Rgb = [number, number, number];

const LEAST_RATIO = 4.5;
/** How much of its own colour a badge has in its background, as in controls.css. */
const BADGE_PART = 0.11;

const tokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const colours = new Map(
  [...tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
    name!,
    { light: toRgb(light!), dark: toRgb(dark!) },
  ]),
);

const SURFACES = ['back', 'panel', 'raised', 'accent-soft'];
const TEXTS = ['text', 'quiet', 'accent'];
const MARKS = ['quiet', 'ok', 'warn', 'bad', 'run', 'execute'];
const PAIRS: [string, string][] = [
  ...TEXTS.flatMap((text) => SURFACES.map((surface): [string, string] => [text, surface])),
  ['bad', 'bad-soft'],
  ['text', 'bad-soft'],
  ['quiet', 'bad-soft'],
  ['ok', 'ok-soft'],
  ['text', 'ok-soft'],
  ['quiet', 'ok-soft'],
  ['execute', 'panel'],
  ['run', 'panel'],
  ['text', 'mark'],
  ['on-accent', 'accent'],
  ['on-accent', 'bad'],
  ['on-accent', 'run'],
];

for (const theme of ['light', 'dark'] as const) {
  test.each(PAIRS)(`${theme}: %s on %s`, (text, surface) => {
    expect(contrast(colour(text, theme), colour(surface, theme))).toBeGreaterThanOrEqual(LEAST_RATIO);
  });

  test.each(MARKS.flatMap((mark) => SURFACES.map((surface) => [mark, surface] as const)))(
    `${theme}: a badge in %s on %s`,
    (mark, surface) => {
      const [ink, paper] = [colour(mark, theme), colour(surface, theme)];
      const behind = ink.map((part, at) => part * BADGE_PART + paper[at]! * (1 - BADGE_PART)) as Rgb;
      expect(contrast(ink, behind)).toBeGreaterThanOrEqual(LEAST_RATIO);
    },
  );
}

function colour(name: string, theme: 'light' | 'dark'): Rgb {
  const pair = colours.get(name);
  if (!pair) throw new Error(`tokens.css has no --${name}`);
  return pair[theme];
}

function toRgb(hex: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

/** As WCAG defines it. */
function contrast(a: Rgb, b: Rgb): number {
  const [dim, bright] = [luminance(a), luminance(b)].sort((one, other) => one - other) as [number, number];
  return (bright + 0.05) / (dim + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
