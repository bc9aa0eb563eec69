/** Commands in a sandbox, one after another, with their output. */
import { useState } from 'preact/hooks';

import { CallFailure } from '../../bus.ts';
import { duration } from '../../format.ts';
import { call } from '../../session.ts';

interface ExecReply {
  stdout: string;
  stderr: string;
  exit_code?: number | null;
  duration_ms: number;
}

interface Ran {
  line: string;
  reply?: ExecReply;
  failure?: string;
}

const MAX_KEPT = 50;
const EXEC_TIMEOUT_MS = 310_000;

export function SandboxConsole({ id }: { id: string }) {
  const [line, setLine] = useState('');
  const [ran, setRan] = useState<Ran[]>([]);
  const run = async () => {
    const entry: Ran = { line };
    setLine('');
    setRan((before) => [...before, entry].slice(-MAX_KEPT));
    const request = { sandbox_id: id, argv: ['sh', '-c', line] };
    const end = await call<ExecReply>('sandbox::exec', request, { timeoutMs: EXEC_TIMEOUT_MS }).then(
      (reply): Ran => ({ line, reply }),
      (error: unknown): Ran => ({ line, failure: wordsOf(error) }),
    );
    setRan((before) => before.map((one) => (one === entry ? end : one)));
  };
  return (
    <section class="commands" aria-label="Commands">
      {ran.map(({ line: words, reply, failure }, at) => (
        <div key={at}>
          <p>
            <span class="prompt">$</span> {words}{' '}
            {reply && (
              <span class="quiet">
                {reply.exit_code === 0 ? '' : `exit ${reply.exit_code ?? 'by a signal'} · `}
                {duration(reply.duration_ms)}
              </span>
            )}
          </p>
          {reply?.stdout && <pre>{reply.stdout}</pre>}
          {reply?.stderr && <pre class="bad">{reply.stderr}</pre>}
          {failure !== undefined && <pre class="bad">{failure}</pre>}
          {!reply && failure === undefined && <p class="quiet">running …</p>}
        </div>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (line.trim() !== '') void run();
        }}
      >
        <span class="prompt">$</span>
        <input
          aria-label="Command in the sandbox"
          placeholder="a shell line, such as uname -a"
          autocomplete="off"
          spellcheck={false}
          value={line}
          onInput={(event) => setLine(event.currentTarget.value)}
        />
      </form>
    </section>
  );
}

function wordsOf(error: unknown): string {
  return error instanceof CallFailure ? `${error.fields.code}: ${error.message}` : String(error);
}
