/** Starts the page. */
import { render } from 'preact';

import { App } from './app.tsx';
import { startKeys } from './keys.ts';
import { followEngine } from './live/index.ts';
import { connect } from './session.ts';

connect();
followEngine();
startKeys();
render(<App />, document.getElementById('app')!);
