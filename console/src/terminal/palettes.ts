/** The colours of a terminal, light and dark. Programs choose among them; xterm.js keeps the contrast readable. */
import type { ITheme } from '@xterm/xterm';

/** Minimum contrast of text by WCAG AA. */
export const LEAST_CONTRAST = 4.5;

export const PALETTES: Record<'light' | 'dark', ITheme> = {
  light: {
    background: '#ffffff',
    foreground: '#1e2326',
    cursor: '#2f6f5e',
    cursorAccent: '#ffffff',
    selectionBackground: '#cfe3dc',
    ...{ black: '#1e2326', red: '#a62f28', green: '#226a40', yellow: '#7d5409' },
    ...{ blue: '#2a62a8', magenta: '#7a4aa8', cyan: '#1f6b74', white: '#585f63' },
    ...{ brightBlack: '#585f63', brightRed: '#c0392f', brightGreen: '#2b7d4d', brightYellow: '#8f620e' },
    ...{ brightBlue: '#3470bd', brightMagenta: '#8a57bb', brightCyan: '#277883', brightWhite: '#1e2326' },
  },
  dark: {
    background: '#101214',
    foreground: '#dfe4e6',
    cursor: '#6cbfa6',
    cursorAccent: '#101214',
    selectionBackground: '#2f4a42',
    ...{ black: '#3a4046', red: '#f2918a', green: '#6cc48c', yellow: '#d9a94a' },
    ...{ blue: '#79aef0', magenta: '#c5a3ea', cyan: '#67c3cf', white: '#dfe4e6' },
    ...{ brightBlack: '#8d969c', brightRed: '#ffb0aa', brightGreen: '#8fdcaa', brightYellow: '#efc778' },
    ...{ brightBlue: '#a2c8fa', brightMagenta: '#dcc3f6', brightCyan: '#93dbe4', brightWhite: '#ffffff' },
  },
};
