/** The workspace as the coder worker sees it: the tree, one file, and a search over all of them. */
import { useRef, useState } from 'preact/hooks';

import type { Query } from '../highlight.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Empty, SearchBox } from '../parts/layout.tsx';
import { Split } from '../parts/split.tsx';
import { goTo, route } from '../route.ts';
import { call } from '../session.ts';
import { FileTree } from './file-tree.tsx';
import { FileView } from './file-view.tsx';
import { SearchHits, type SearchReply } from './search-hits.tsx';

const MAX_MATCHES = 200;
/** Debounce while the user types. */
const TYPING_MS = 120;

export function WorkspacePage() {
  const [query, setQuery] = useState<Query>({ text: '', isRegex: false, ignoreCase: true });
  const [found, setFound] = useState<{ query: Query; reply: SearchReply } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const open = (target?: string) => goTo({ page: 'workspace', ...(target !== undefined && { open: target }) });
  const { path, line } = readTarget(route.value.open);

  const lastSearch = useRef(new AbortController());
  const search = (asked: Query) => {
    setQuery(asked);
    // Further typing makes the previous search useless, here and in the worker.
    lastSearch.current.abort();
    if (asked.text.length < 2) return setFound(undefined);

    const { signal } = (lastSearch.current = new AbortController());
    const words = { query: asked.text, regex: asked.isRegex, ignore_case: asked.ignoreCase };
    const request = { ...words, max_matches: MAX_MATCHES, respect_gitignore: true };
    setTimeout(() => {
      if (signal.aborted) return;
      void call<SearchReply>('coder::search', request, { signal }).then(
        (reply) => (setFound({ query: asked, reply }), setError(undefined)),
        (problem: unknown) => signal.aborted || setError(problem),
      );
    }, TYPING_MS);
  };

  return (
    <Split
      page="workspace"
      names={['Workspace', 'File']}
      isOpen={path !== undefined}
      isWide
      list={
        <>
          <h1 class="hidden">Workspace</h1>
          <SearchBox label="Search the workspace" value={query.text} onInput={(text) => search({ ...query, text })} />
          <Toggles query={query} onChange={search} />
          {error !== undefined && <FailureCard error={error} />}
          <div class="scroll">
            {found ? (
              <SearchHits query={found.query} reply={found.reply} open={route.value.open} onOpen={open} />
            ) : (
              <FileTree openPath={path} onOpen={open} />
            )}
          </div>
        </>
      }
    >
      {path === undefined ? (
        <Empty title="Pick a file, or search">
          <p>
            Press <kbd>/</kbd> and type: every file of the workspace is searched, <code>.gitignore</code> respected.
            Protected files stay out, here as for agents.
          </p>
        </Empty>
      ) : (
        <FileView key={path} path={path} line={line} query={found?.query} />
      )}
    </Split>
  );
}

function Toggles({ query, onChange }: { query: Query; onChange: (query: Query) => void }) {
  const toggles = [
    { label: 'regex', isOn: query.isRegex, flipped: { ...query, isRegex: !query.isRegex } },
    { label: 'ignore case', isOn: query.ignoreCase, flipped: { ...query, ignoreCase: !query.ignoreCase } },
  ];
  return (
    <p class="toggles">
      {toggles.map(({ label, isOn, flipped }) => (
        <label key={label} class="check">
          <input type="checkbox" checked={isOn} onChange={() => onChange(flipped)} /> {label}
        </label>
      ))}
    </p>
  );
}

/** The open file: a path, and a line after a colon when a hit was opened. */
function readTarget(target: string | undefined): { path?: string; line?: number } {
  if (target === undefined) return {};
  const [, path, line] = /^(.*):(\d+)$/s.exec(target) ?? [];
  return path === undefined ? { path: target } : { path, line: Number(line) };
}
