/** The files of a sandbox: one directory at a time, and the beginning of a file. */
import { useState } from 'preact/hooks';

import { bytes } from '../../format.ts';
import { FailureCard } from '../../parts/failure-card.tsx';
import { call, readChannel } from '../../session.ts';
import { useWatch } from '../../watching.ts';

interface FsEntry {
  name: string;
  is_dir: boolean;
  size: number;
  mode: string;
  is_symlink: boolean;
}

interface OpenFile {
  path: string;
  text: string;
  isCut: boolean;
}

const MAX_SHOWN_BYTES = 262_144;
const MAX_SHOWN_ENTRIES = 500;

export function SandboxFiles({ id }: { id: string }) {
  const [path, setPath] = useState('/');
  const [entries, setEntries] = useState<FsEntry[]>([]);
  const [file, setFile] = useState<OpenFile | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const list = () =>
    call<{ entries: FsEntry[] }>('sandbox::fs::ls', { sandbox_id: id, path }).then(
      (reply) => (setEntries(reply.entries), setError(undefined)),
      setError,
    );
  useWatch('sandbox::watch', list, [path]);
  const read = async (target: string) => {
    try {
      const reply = await call<{ content: { channel_id: string; access_key: string }; size: number }>(
        'sandbox::fs::read',
        { sandbox_id: id, path: target },
      );
      const content = await readChannel(reply.content, MAX_SHOWN_BYTES);
      setFile({ path: target, text: new TextDecoder().decode(content), isCut: reply.size > content.length });
      setError(undefined);
    } catch (problem) {
      setError(problem);
    }
  };
  const below = (name: string) => (path === '/' ? `/${name}` : `${path}/${name}`);

  return (
    <section class="output" aria-label="Files">
      <h2>
        Files <Crumbs path={path} onGo={setPath} />
      </h2>
      {error !== undefined && <FailureCard error={error} />}
      <div class="files">
        <ul class="card file-list">
          {entries.slice(0, MAX_SHOWN_ENTRIES).map((entry) => (
            <li key={entry.name}>
              <button
                type="button"
                class="plain mono"
                onClick={() =>
                  entry.is_dir || entry.is_symlink ? setPath(below(entry.name)) : void read(below(entry.name))
                }
              >
                {entry.name}
                {entry.is_dir ? '/' : entry.is_symlink ? ' →' : ''}
              </button>
              <span class="quiet">{entry.is_dir ? entry.mode : bytes(entry.size)}</span>
            </li>
          ))}
        </ul>
        {file && <FileText file={file} />}
      </div>
    </section>
  );
}

function FileText({ file }: { file: OpenFile }) {
  return (
    <div class="card file-text">
      <p class="mono quiet">
        {file.path} {file.isCut && `· the first ${bytes(MAX_SHOWN_BYTES)}`}
      </p>
      <pre>{file.text}</pre>
    </div>
  );
}

function Crumbs({ path, onGo }: { path: string; onGo: (path: string) => void }) {
  const names = path.split('/').filter(Boolean);
  return (
    <span class="crumbs mono">
      <button type="button" class="plain" onClick={() => onGo('/')}>
        /
      </button>
      {names.map((name, at) => (
        <button key={at} type="button" class="plain" onClick={() => onGo(`/${names.slice(0, at + 1).join('/')}`)}>
          {name}/
        </button>
      ))}
    </span>
  );
}
