/** The frame around the pages: navigation, connection state, and the token prompt. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { CallsPage } from './pages/calls.tsx';
import { ChangesPage } from './pages/changes.tsx';
import { FunctionsPage } from './pages/functions.tsx';
import { JobsPage } from './pages/jobs.tsx';
import { SandboxesPage } from './pages/sandboxes.tsx';
import { WorkersPage } from './pages/workers.tsx';
import { WorkspacePage } from './pages/workspace.tsx';
import { hashOf, PAGES, route, type Page } from './route.ts';
import { busState, catalogue, giveToken, wantsToken, workers } from './session.ts';
import { nextTheme, theme } from './theme.ts';

const SHOWN: Record<Page, ComponentType> = {
  functions: FunctionsPage,
  calls: CallsPage,
  workers: WorkersPage,
  jobs: JobsPage,
  sandboxes: SandboxesPage,
  workspace: WorkspacePage,
  changes: ChangesPage,
};
const titleOf = (page: Page) => page.charAt(0).toUpperCase() + page.slice(1);
const STATES = { connecting: 'connecting', open: 'connected', lost: 'engine unreachable' };

export function App() {
  const { page } = route.value;
  const Shown = SHOWN[page];
  useEffect(() => {
    document.title = `${titleOf(page)} · Workcell`;
  }, [page]);
  return (
    <>
      <nav class="rail" aria-label="Pages">
        <a class="brand" href={hashOf({ page: 'functions' })}>
          <img src="/console/favicon.svg" alt="" width="20" height="20" /> Workcell
        </a>
        {PAGES.map((name, at) => (
          <a
            key={name}
            class="rail-link"
            href={hashOf({ page: name })}
            aria-current={name === page ? 'page' : undefined}
          >
            {titleOf(name)} <kbd>{at + 1}</kbd>
          </a>
        ))}
        <div class="rail-foot">
          <p class="rail-state" data-state={busState.value}>
            <span class="dot" /> {wantsToken.value ? 'wants a token' : STATES[busState.value]}
          </p>
          <p class="quiet">
            {workers.value.length} workers · {catalogue.value?.length ?? 0} functions
          </p>
          <p>
            <button type="button" class="plain" onClick={nextTheme} title="Light, dark or as the system has it">
              Theme: {theme.value}
            </button>
          </p>
          <p>
            <a href="/docs">Reference</a> · <a href="/openapi.json">OpenAPI</a>
          </p>
          <p class="quiet rail-keys">
            <kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> move <kbd>↵</kbd> open <kbd>esc</kbd> close
          </p>
        </div>
      </nav>
      <main>{wantsToken.value ? <TokenForm /> : <Shown />}</main>
    </>
  );
}

function TokenForm() {
  const [token, setToken] = useState('');
  return (
    <form
      class="token card"
      onSubmit={(event) => {
        event.preventDefault();
        giveToken(token);
      }}
    >
      <h1>This engine wants a token</h1>
      <p class="quiet">
        It was started with <code>--token</code> or <code>WORKCELL_TOKEN</code>. The token stays in this tab.
      </p>
      <input
        type="password"
        aria-label="Token"
        autocomplete="off"
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={token === ''}>
        Connect
      </button>
    </form>
  );
}
