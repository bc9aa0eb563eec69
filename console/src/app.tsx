/** The frame around the pages: navigation with counts, connection state, and the token prompt. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { clock } from './format.ts';
import { openCalls } from './live/calls.ts';
import { feed } from './live/changes.ts';
import { runningJobs, sandboxes } from './live/machines.ts';
import { nodes } from './live/nodes.ts';
import { CallsPage } from './pages/calls.tsx';
import { ChangesPage } from './pages/changes.tsx';
import { FunctionsPage } from './pages/functions.tsx';
import { HomePage } from './pages/home.tsx';
import { JobsPage } from './pages/jobs/jobs.tsx';
import { NodesPage } from './nodes/nodes-page.tsx';
import { SandboxesPage } from './pages/sandboxes/sandboxes.tsx';
import { WorkersPage } from './pages/workers.tsx';
import { WorkspacePage } from './pages/workspace.tsx';
import { KeyForm } from './parts/key-form.tsx';
import { hashOf, PAGES, route, type Page } from './route.ts';
import {
  busState,
  catalogue,
  giveKey,
  giveToken,
  isTokenRefused,
  lostAtMs,
  wantsKey,
  wantsToken,
  workers,
} from './session.ts';
import { nextTheme, theme } from './theme.ts';

const SHOWN: Record<Page, ComponentType> = {
  home: HomePage,
  calls: CallsPage,
  changes: ChangesPage,
  jobs: JobsPage,
  sandboxes: SandboxesPage,
  workspace: WorkspacePage,
  functions: FunctionsPage,
  workers: WorkersPage,
  nodes: NodesPage,
};
const titleOf = (page: Page) => page.charAt(0).toUpperCase() + page.slice(1);
const STATES = { connecting: 'connecting', open: 'connected', lost: 'engine unreachable' };

/** The count shown beside the name of a page. */
const COUNTS: Partial<Record<Page, () => { count: number; of: string; isMore?: boolean }>> = {
  calls: () => ({ count: openCalls().length, of: 'running' }),
  changes: () => ({ count: feed.value?.records.length ?? 0, of: 'changes', isMore: feed.value?.isMore ?? false }),
  jobs: () => ({ count: runningJobs().length, of: 'running' }),
  sandboxes: () => ({ count: sandboxes.value?.length ?? 0, of: 'live' }),
  nodes: () => ({ count: nodes.value.length, of: 'nodes' }),
};

export function App() {
  const { page } = route.value;
  const Shown = SHOWN[page];
  useEffect(() => {
    document.title = `${titleOf(page)} · Workcell`;
  }, [page]);
  return (
    <>
      <LostBar />
      <nav class="rail" aria-label="Pages">
        <a class="brand" href={hashOf({ page: 'home' })}>
          <img src="/console/favicon.svg" alt="" width="20" height="20" /> Workcell
        </a>
        {shownPages().map((name, at) => (
          <a
            key={name}
            class="rail-link"
            href={hashOf({ page: name })}
            aria-current={name === page ? 'page' : undefined}
          >
            <span class="grow">{titleOf(name)}</span> <Count page={name} /> <kbd>{at + 1}</kbd>
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
      {wantsToken.value || !wantsKey.value ? (
        <main>{wantsToken.value ? <TokenForm /> : <Shown />}</main>
      ) : (
        <main class="prompted">
          <KeyForm
            why="A policy applies to this page: to see, answer and stop the calls of others it needs the operator's key."
            action="Use this key"
            onKey={giveKey}
          />
          <Shown />
        </main>
      )}
    </>
  );
}

/** Leaves out the Nodes page outside a cluster; a link to it still opens. */
function shownPages(): readonly Page[] {
  return nodes.value.length > 0 ? PAGES : PAGES.filter((page) => page !== 'nodes');
}

function Count({ page }: { page: Page }) {
  const counted = COUNTS[page]?.();
  if (!counted || counted.count === 0) return null;
  const { count, of, isMore = false } = counted;
  const text = `${count}${isMore ? '+' : ''}`;
  return (
    <span class="rail-count" title={`${text} ${of}`}>
      {text}
    </span>
  );
}

/** A bar across the top while the engine does not answer: the data below it is old. */
function LostBar() {
  if (lostAtMs.value === undefined || wantsToken.value) return null;
  return (
    <p class="lost-bar" role="alert">
      The engine does not answer since {clock(lostAtMs.value)}. What you see is from before; this page connects again by
      itself.
    </p>
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
      {isTokenRefused.value && (
        <p class="bad" role="alert">
          The engine refused that token. Check it, or read it again where the engine was started.
        </p>
      )}
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
