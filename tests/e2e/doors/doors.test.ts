/**
 * The same through every door, by two clients at once: the caller of a call, its changes and events, what a policy denies,
 * protected files, and the end of a job in a sandbox.
 */
import { existsSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { availableWorkers, parseEntries, startWorkcell, type RunningWorkcell } from '#assembly';
import { connect } from '#client';
import { silentLog, type CallError, type CallEvent } from '#contract';
import { toToolName, toUrlPath, type Change } from '#protocol';
import {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  isFull,
  mcpClient,
  sandboxConfig,
  tester,
  tempDir,
  whyNoSandbox,
  withEnoughTime,
  type TempDir,
} from '#testing';
import { runCli } from '../../../src/testing/cli.ts';
import { Peer } from '../../security/engine/peer-socket.ts';
import { httpTransport, openClient, stdioTransport, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 2 * CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });
const whyNot = await whyNoSandbox(['python']);

/** Two programs, each with a token of its own. */
const CLIENTS = { alpha: 'ci', beta: 'lab' };
type ClientName = keyof typeof CLIENTS;
const TOKENS = { ci: 'secret of ci', lab: 'secret of the lab' };
const tokenOf = (client: ClientName) => TOKENS[CLIENTS[client] as keyof typeof TOKENS];
const bearer = (client: ClientName) => ({ Authorization: `Bearer ${tokenOf(client)}` });

interface Client extends AsyncDisposable {
  /** The result as JSON, or the text of the failure. */
  call(id: string, payload: object): Promise<string>;
  /** Messages of the events of a call, in order. */
  events(id: string, payload: object): Promise<string[]>;
}

interface Door {
  open(client: ClientName, url: string): Promise<Client>;
  /** Name of the caller in lists. */
  caller(client: ClientName): RegExp;
}

const messageOf = (event: unknown) => String((event as { message?: string }).message);
/** Those of an MCP client, as progress. */
async function progressOf(
  client: Awaited<ReturnType<typeof openClient>>,
  id: string,
  payload: object,
): Promise<string[]> {
  const heard: string[] = [];
  const call = { name: toToolName(id), arguments: { ...payload } };
  await client.callTool(call, { onprogress: (progress) => heard.push(messageOf(progress)) });
  return heard;
}

const named = (client: ClientName) => new RegExp(`^${client} \\(${CLIENTS[client]}\\)$`);

const DOORS: Record<string, Door> = {
  bus: {
    async open(name, url) {
      const bus = await connect(url, { name, token: tokenOf(name) });
      const call = (id: string, payload: object) =>
        bus.call(id, payload).then(
          (result) => JSON.stringify(result),
          (error: unknown) => `${(error as CallError).code}: ${(error as CallError).message}`,
        );
      const events = async (id: string, payload: object) => {
        const heard: CallEvent[] = [];
        await bus.call(id, payload, { onEvent: (event) => heard.push(event) });
        return heard.map(messageOf);
      };
      return { call, events, [Symbol.asyncDispose]: async () => bus.close() };
    },
    caller: named,
  },
  HTTP: {
    async open(client, url) {
      const call = async (id: string, payload: object, accept = 'application/json') => {
        const own = { Accept: accept, 'User-Agent': `${client}/1`, ...bearer(client) };
        const headers = { 'Content-Type': 'application/json', ...own };
        const init = { method: 'POST', headers, body: JSON.stringify(payload) };
        return (await fetch(`${url.replace('ws', 'http')}/functions/${toUrlPath(id)}`, init)).text();
      };
      const events = async (id: string, payload: object) => {
        const text = await call(id, payload, 'text/event-stream');
        return [...text.matchAll(/^event: progress\n(?:id: .*\n)?data: (.*)$/gm)].map(([, data]) =>
          messageOf(JSON.parse(data!)),
        );
      };
      return { call, events, async [Symbol.asyncDispose]() {} };
    },
    caller: named,
  },
  MCP: {
    async open(name, url) {
      const client = await mcpClient(url, { name, version: '1' }, bearer(name));
      const reporting = await openClient(
        httpTransport(url.replace('ws', 'http'), undefined, bearer(name)),
        'legacy',
        name,
      );
      return {
        call: (id, payload) => client.call(toToolName(id), payload),
        events: (id, payload) => progressOf(reporting, id, payload),
        [Symbol.asyncDispose]: () => reporting[Symbol.asyncDispose](),
      };
    },
    caller: (client) => new RegExp(`^${client} #\\d+ \\(${CLIENTS[client]}\\)$`),
  },
  'MCP on standard input': {
    async open(name, url) {
      const transport = stdioTransport({}, '--structured', '--url', url, '--token', tokenOf(name));
      const client = await openClient(transport, 'legacy', name);
      const call = async (id: string, payload: object) => {
        const result = await client.callTool({ name: toToolName(id), arguments: { ...payload } });
        return result.structuredContent ? JSON.stringify(result.structuredContent) : textOf(result);
      };
      const events = (id: string, payload: object) => progressOf(client, id, payload);
      return { call, events, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
    },
    caller: named,
  },
  CLI: {
    async open(client, url) {
      const run = (id: string, payload: object, ...more: string[]) => {
        const address = ['--url', url, '--token', tokenOf(client)];
        return runCli(['call', id, '--json', JSON.stringify(payload), ...address, ...more]);
      };
      const call = async (id: string, payload: object) => {
        const { stdout, stderr } = await run(id, payload);
        return stdout || stderr;
      };
      const events = async (id: string, payload: object) => {
        const { stderr } = await run(id, payload, '--events');
        return stderr
          .trim()
          .split('\n')
          .map((line) => messageOf(JSON.parse(line)));
      };
      return { call, events, async [Symbol.asyncDispose]() {} };
    },
    caller: (client) => new RegExp(`^workcell-cli:\\d+ \\(${CLIENTS[client]}\\)$`),
  },
};

let dir: TempDir;
let cell: RunningWorkcell;
let page: Peer;
let sandboxId: string;
beforeAll(async () => {
  const samples = ['.env.example', '.env.sample', '.env.template'].map((file) => [file, 'PASSWORD=sample\n']);
  const files = { '.env': 'PASSWORD=hush\n', 'readme.md': 'PASSWORD is in .env\n' };
  dir = await tempDir({ ...files, ...Object.fromEntries(samples) });
  const workers = [
    { name: 'coder' },
    { name: 'filesystem' },
    { name: 'shell', config: { allowlist: ['sh'] } },
    ...(whyNot === undefined ? [{ name: 'iii-sandbox', config: sandboxConfig() }] : []),
  ];
  const entries = [
    // As an app denies it.
    { def: tester, config: {}, denial: { functions: ['filesystem::rm'], permissions: [], risks: [] } },
    ...parseEntries(JSON.stringify({ workers }), availableWorkers, { workspace: dir.root }),
  ];
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries, tokens: TOKENS, log: silentLog });
  page = await Peer.dial(cell.url, { origin: cell.url.replace('ws', 'http'), headers: bearer('alpha') });
  await page.call('engine::calls::watch');
  if (whyNot === undefined) {
    await using bus = await DOORS.bus!.open('alpha', cell.url);
    sandboxId = (JSON.parse(await bus.call('sandbox::create', { image: 'python' })) as { sandbox_id: string })
      .sandbox_id;
  }
});
afterAll(async () => {
  page?.[Symbol.dispose]();
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
});

/** Calls of a function that ended since, by their callers, with their changes. */
async function endedSince(since: number, id: string): Promise<{ caller: string; changes: Change[] }[]> {
  const { ended } = (await page.call('engine::calls::list', { since })).result as {
    ended: { id: string; function_id: string; caller: string; principal: { kind: string } }[];
  };
  const rows = ended.filter(({ function_id }) => function_id === id);
  expect(rows.map(({ principal }) => principal.kind)).toEqual(rows.map(() => 'token'));
  return Promise.all(
    rows.map(async ({ id: call, caller }) => {
      const { result } = await page.call('engine::calls::get', { id: call });
      return { caller, changes: (result as { changes?: Change[] }).changes ?? [] };
    }),
  );
}

async function latest(): Promise<number> {
  return ((await page.call('engine::calls::list')).result as { latest: number }).latest;
}

/** Names the file: a function that is missing itself is not found either. */
const MISSING = /\.env does not exist|not found: \S*\.env/;
/** Calls on the protected file, or on a folder that has it, with their replies. `$` is the workspace. */
const ON_PROTECTED: [id: string, payload: object, reply?: RegExp][] = [
  ['coder::read-file', { path: '.env' }],
  ['coder::search', { query: 'PASSWORD' }, /PASSWORD is in \.env/],
  ['coder::list-folder', { path: '.' }, /"\.env"[^}]*"non_accessible":\s*true/],
  ['coder::tree', {}, /"\.env"[^}]*"non_accessible":\s*true/],
  ['coder::create-file', { files: [{ path: '.env', content: 'x', overwrite: true }] }],
  ['coder::delete-file', { paths: ['.env'] }],
  ['coder::apply-patch', { patch: '*** Begin Patch\n*** Update File: .env\n*** Move to: stolen\n*** End Patch' }],
  ['shell::fs::read', { path: '$/.env' }],
  ['shell::fs::grep', { path: '$', pattern: 'PASSWORD', recursive: true }, /PASSWORD is in \.env/],
  ['shell::fs::stat', { path: '$/.env' }],
  ['shell::fs::mv', { src: '$/.env', dst: '$/stolen' }],
  ['filesystem::read', { path: '.env' }],
  ['filesystem::write', { path: '.env', content: 'x' }],
  ['filesystem::grep', { pattern: 'PASSWORD' }, /PASSWORD is in \.env/],
  ['filesystem::ls', { path: '$', include_hidden: true }, /^(?=.*"readme\.md")(?!.*\.env")/s],
  ['filesystem::cp', { source: '$/.env', destination: '$/stolen' }],
];
const ON_ORDINARY: [id: string, payload: object][] = [
  ['coder::read-file', { path: '.env.example' }],
  ['shell::fs::grep', { path: '$/.env.sample', pattern: 'PASSWORD' }],
  ['filesystem::read', { path: '.env.template' }],
];
const inWorkspace = (payload: object) => JSON.parse(JSON.stringify(payload).replaceAll('$', dir.root)) as object;

describe.each(Object.entries(DOORS))('%s', (name, door) => {
  let clients: Record<ClientName, Client>;
  beforeAll(async () => {
    const [alpha, beta] = await Promise.all([door.open('alpha', cell.url), door.open('beta', cell.url)]);
    clients = { alpha, beta };
  });
  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) await client[Symbol.asyncDispose]();
  });
  const both = <T>(work: (client: Client, name: ClientName) => Promise<T>) =>
    Promise.all((['alpha', 'beta'] as const).map((client) => work(clients[client], client)));

  /** Each of the two wrote one file, and is named with it and not with the other's. */
  async function expectWritten(id: string, pathOf: (client: ClientName) => string, more: object = {}): Promise<void> {
    const since = await latest();
    await both((client, who) => client.call(id, { path: pathOf(who), content: `by ${who}\n`, ...more }));
    const calls = await endedSince(since, id);
    for (const who of ['alpha', 'beta'] as const) {
      const own = calls.filter(({ caller }) => door.caller(who).test(caller));
      expect(own.map(({ changes }) => changes)).toEqual([
        [
          {
            path: pathOf(who),
            kind: 'created',
            after: { bytes: `by ${who}\n`.length, version: expect.stringMatching(/^sha256:/) },
            hunks: [{ before_line: 1, after_line: 1, lines: [`+by ${who}`] }],
          },
        ],
      ]);
    }
    expect(calls).toHaveLength(2);
  }

  test('a change of a file is reported with the caller it was made for', async () => {
    await expectWritten('filesystem::write', (who) => `${who} ${name}.txt`);
  });

  test('what an app denies is refused to both, also where another function calls it', async () => {
    const path = `${dir.root}/readme.md`;
    const nested = { id: 'filesystem::rm', payload: { path } };
    const replies = await both(async (client) => [
      await client.call('filesystem::rm', { path }),
      await client.call('tester::ask', nested),
    ]);
    for (const reply of replies.flat()) expect(reply).toMatch(/forbidden|not found|no tool/);
    expect(existsSync(path)).toBe(true);
  });

  test('each hears the events of its own call', async () => {
    const counted = { alpha: 2, beta: 3 };
    const untilLast = async (client: Client, who: ClientName, everyMs: number) => {
      const messages = await client.events('tester::count', { to: counted[who], everyMs });
      // An MCP client drops the one that comes with the result.
      return messages.filter((message) => message !== `at ${counted[who]}`);
    };
    // MCP does not send a line that follows another too soon.
    const heard = await withEnoughTime(
      [name.startsWith('MCP') ? 300 : 0, 2_000],
      (everyMs) => both((client, who) => untilLast(client, who, everyMs)),
      (seen) => seen.flat().length === 3,
    );
    expect(heard).toEqual([['at 1'], ['at 1', 'at 2']]);
  });

  // The command line starts a process for each call: npm test makes only the first.
  const sampled = <T>(calls: T[]) => (name === 'CLI' && !isFull ? calls.slice(0, 1) : calls);

  test.each(sampled(ON_PROTECTED))(
    'http.P8 a protected file is not there: %s %j',
    async (id, payload, reply = MISSING) => {
      const replies = await both((client) => client.call(id, inWorkspace(payload)));
      for (const text of replies) {
        expect(text).toMatch(reply);
        expect(text).not.toMatch(/=hush/);
      }
      expect(readFileSync(dir.path('.env'), 'utf8')).toBe('PASSWORD=hush\n');
      expect(existsSync(dir.path('stolen'))).toBe(false);
    },
  );

  test.each(sampled(ON_ORDINARY))('http.P8 a sample of one is an ordinary file: %s %j', async (id, payload) => {
    for (const text of await both((client) => client.call(id, inWorkspace(payload)))) expect(text).toContain('=sample');
  });

  describe.skipIf(whyNot !== undefined)(`in a sandbox${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
    test('a change of a file is reported with the caller it was made for', async () => {
      await expectWritten('sandbox::fs::write', (who) => `/tmp/${who} ${name}`, { sandbox_id: sandboxId });
    });

    test('a job ends by shell::kill', async () => {
      const target = { kind: 'sandbox', sandbox_id: sandboxId };
      const outcomes = await both(async (client, who) => {
        const mark = `/tmp/${who}-${name}`.replaceAll(' ', '-');
        const args = ['-c', 'echo begun; touch "$0"; sleep 4711', mark];
        const started = await client.call('shell::exec_bg', { command: 'sh', args, target });
        const { job_id } = JSON.parse(started) as { job_id: string };
        const look = () => client.call('sandbox::fs::stat', { path: mark, sandbox_id: sandboxId });
        await expect.poll(look, { timeout: CASE_PATIENCE_MS }).toContain('"mtime"');
        const killed = JSON.parse(await client.call('shell::kill', { job_id })) as { reason?: string };
        const status = () => client.call('shell::status', { job_id });
        await expect.poll(status, { timeout: CASE_PATIENCE_MS }).toMatch(/"status": ?"killed"/);
        return { killed, after: JSON.parse(await status()) as object, job_id };
      });
      for (const { killed, after, job_id } of outcomes) {
        // The answer comes after six seconds with a reason, when the guest takes longer to confirm the end.
        expect(killed).toMatchObject(
          killed.reason == null
            ? { job_id, killed: true, status: 'killed' }
            : { job_id, reason: expect.stringMatching(/\w/) },
        );
        expect(Object.keys(killed).filter((key) => !['job_id', 'killed', 'status', 'reason'].includes(key))).toEqual(
          [],
        );
        expect(after).toMatchObject({ job: { status: 'killed', stdout: 'begun\n' } });
      }
    });
  });
});

test('two clients of mcp --tools have each their own tools, also behind another function', async () => {
  const open = (who: ClientName, own: string) => {
    const words = ['--structured', '--url', cell.url, '--token', tokenOf(who), '--tools', `tester::ask,${own}`];
    return openClient(stdioTransport({}, ...words), 'legacy', who);
  };
  await using alpha = await open('alpha', 'coder::tree');
  await using beta = await open('beta', 'filesystem::ls');
  const outcomes = await Promise.all(
    [alpha, beta].map(async (client) => {
      const { tools } = await client.listTools();
      const ask = async (id: string) => textOf(await client.callTool({ name: 'tester_ask', arguments: { id } }));
      return [tools.map(({ name }) => name), await ask('coder::tree'), await ask('filesystem::ls')];
    }),
  );
  const [served, refused] = [
    expect.stringContaining('readme.md') as string,
    expect.stringContaining('forbidden') as string,
  ];
  expect(outcomes).toEqual([
    [['coder_tree', 'tester_ask'], served, refused],
    [['filesystem_ls', 'tester_ask'], refused, served],
  ]);
});
