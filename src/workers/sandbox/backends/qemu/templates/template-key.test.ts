import { expect, test } from 'vitest';

import { templateKey, type TemplateIngredients } from './template-key.ts';

const INGREDIENTS: TemplateIngredients = {
  digest: 'd',
  qemuVersion: 'QEMU 7.2',
  accelerator: 'tcg',
  processor: 'p',
  args: ['-m', '64M'],
  diskMb: 16,
  ram: 'file',
};

test('the same ingredients have the same name', () => {
  expect(templateKey({ ...INGREDIENTS })).toBe(templateKey(INGREDIENTS));
});

test.each<Partial<TemplateIngredients>>([
  { digest: 'e' },
  { qemuVersion: 'QEMU 7.2 (Debian 1)' },
  { accelerator: 'kvm' },
  { processor: 'q' },
  { args: ['-m', '65M'] },
  { args: ['-m 64M'] },
  { diskMb: 17 },
  { ram: 'stream' },
])('%j gives another', (other) => {
  expect(templateKey({ ...INGREDIENTS, ...other })).not.toBe(templateKey(INGREDIENTS));
});
