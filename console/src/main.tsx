/** Starts the page. */
import { render } from 'preact';

import { App } from './app.tsx';
import { startKeys } from './keys.ts';
import { effect } from '@preact/signals';

import { busState, connect, refresh } from './session.ts';
import { followWatch } from './watching.ts';

connect();
effect(() => (busState.value === 'open' ? followWatch('engine::watch', refresh) : undefined));
startKeys();
render(<App />, document.getElementById('app')!);
