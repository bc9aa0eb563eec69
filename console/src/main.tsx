/** Starts the page. */
import { render } from 'preact';

import { App } from './app.tsx';
import { startKeys } from './keys.ts';
import { connect, startRefreshing } from './session.ts';

connect();
startRefreshing();
startKeys();
render(<App />, document.getElementById('app')!);
