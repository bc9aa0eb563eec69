import { expect, test } from 'vitest';

import { gauge } from '#contract';
import { parsePrometheus } from '#testing';
import { prometheusText } from './prometheus-text.ts';

test.each(['a"b', 'a\\b', 'a\nb', '"} 1', '{x="y"}', 'ünï', ''])(
  'a label of any text comes back as it was: %j',
  (text) => {
    const written = prometheusText([gauge('m', 'Says \\ and\nmore.', [{ labels: { function: text }, value: 2 }])]);
    expect([...parsePrometheus(written)]).toEqual([[`m${JSON.stringify({ function: text })}`, 2]]);
  },
);
