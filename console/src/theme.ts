/** Light or dark: the system's setting, until the user chooses. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'workcell.theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(ORDER.find((name) => name === localStorage.getItem(KEY)) ?? 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system';
}
