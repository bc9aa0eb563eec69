/** Every function on the bus, by worker, and the one that is open as a form. */
import { useState } from 'preact/hooks';

import { groupEntries } from '../catalogue.ts';
import { cursor, useListKeys } from '../keys.ts';
import { Badge, Command, Empty, Row, SearchBox } from '../parts/layout.tsx';
import { Split } from '../parts/split.tsx';
import { addressable, goTo, route } from '../route.ts';
import { catalogue } from '../session.ts';
import { FunctionCard } from './function-card.tsx';

export function FunctionsPage() {
  const [search, setSearch] = useState('');
  const entries = catalogue.value;
  const groups = groupEntries(entries ?? [], search);
  const open = (key: string) => {
    goTo({ page: 'functions', open: key });
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.run-form input, .run-form textarea')?.focus());
  };
  useListKeys({
    keys: groups.flatMap((group) => group.entries.map((entry) => entry.key)),
    open,
    close: () => goTo({ page: 'functions' }),
  });
  const openEntry = entries?.find((entry) => addressable(entry.key) === route.value.open);

  return (
    <Split
      page="functions"
      names={['Functions', 'Function']}
      isOpen={route.value.open !== undefined}
      list={
        <>
          <h1 class="hidden">Functions</h1>
          <SearchBox label="Search functions" value={search} onInput={setSearch} />
          <div class="scroll">
            {groups.map(({ worker, entries: members }) => (
              <section key={worker} class="group">
                <h2>
                  {worker} <span class="quiet">{members.length}</span>
                </h2>
                {members.map((entry) => (
                  <Row key={entry.key} id={entry.key} isOpen={entry === openEntry} onOpen={() => open(entry.key)}>
                    <span class="mono cut">{entry.key}</span>
                    {entry.effect && <Badge kind={entry.effect}>{entry.effect}</Badge>}
                  </Row>
                ))}
              </section>
            ))}
            {entries && groups.length === 0 && <p class="quiet pad">No function holds “{search}”.</p>}
          </div>
        </>
      }
    >
      {openEntry ? (
        <FunctionCard key={openEntry.key} entry={openEntry} />
      ) : (
        <Empty title={route.value.open === undefined ? 'Pick a function' : `${route.value.open} is not on the bus`}>
          <p>
            Press <kbd>/</kbd> to search, <kbd>j</kbd> and <kbd>k</kbd> to move, <kbd>↵</kbd> to open. The same call
            works from a terminal:
          </p>
          <Command text={`workcell call ${cursor.value ?? 'coder::search'} --help`} />
        </Empty>
      )}
    </Split>
  );
}
