/** Texts that would run as a script if a page took them for markup, and peers that send them in every field. */
import { Peer, type AnyFrame } from '../engine/peer-socket.ts';

/** Each pushes to `ran`, which the test puts on the window. */
const PAYLOADS = [
  '<img src=x onerror=ran.push(0)>',
  '<script>ran.push(1)</script>',
  '"><svg onload=ran.push(2)>',
  'javascript:ran.push(3)//',
  '</script><script>ran.push(4)</script>',
  `' autofocus onfocus='ran.push(5)' x="`,
  "`${ran.push(6)}`{{constructor('ran.push(6)')()}}",
  '//\u2028ran.push(7)\u2029//',
  '</textarea><iframe src="javascript:parent.ran.push(8)">',
  '<base href=//x.test><a href=javascript:ran.push(9)>x</a>',
];
export const COUNT = PAYLOADS.length;

/** The mark by which a payload in a field is recognized once it is shown. */
export const markOf = (place: string, at: number) => `⟨${place} ${at}⟩`;
export const hostile = (place: string, at: number) => PAYLOADS[at]! + markOf(place, at);
export const hostiles = (place: string) => PAYLOADS.map((_, at) => hostile(place, at));

export interface HostilePeer extends Disposable {
  peer: Peer;
  namespace: string;
  /** The function that answers, and the one that fails. */
  ids: [string, string];
}

/** One worker with one payload in all its metadata, its functions and its answers. */
export async function dialHostile(url: string, at: number): Promise<HostilePeer> {
  const peer = await Peer.dial(url);
  const text = (place: string) => hostile(place, at);
  const ids: [string, string] = [text('function id'), `fails ${text('failing id')}`];
  const namespace = text('namespace');
  for (const id of ids) peer.send({ type: 'registerfunction', id, ...announcement(text) });
  peer.socket.on('message', (data: Buffer) => {
    const frame: AnyFrame = JSON.parse(data.toString());
    if (frame.type === 'invokefunction') peer.send(answer(frame, frame.function_id === ids[1], text));
  });
  await peer.call('engine::workers::register', {
    name: text('worker'),
    description: text('worker description'),
    runtime: text('runtime'),
    version: text('version'),
    os: text('os'),
    isolation: text('isolation'),
    pid: 1,
    namespace,
  });
  return { peer, namespace, ids, [Symbol.dispose]: () => peer[Symbol.dispose]() };
}

function announcement(text: (place: string) => string): AnyFrame {
  const tagged = { type: 'object', properties: { tag: { const: text('const') } }, required: ['tag'] };
  return {
    description: text('summary'),
    request_format: {
      type: 'object',
      properties: {
        [text('field')]: { type: 'string', description: text('field description'), default: text('default') },
        pick: { enum: [text('enum')] },
        either: { oneOf: [{ type: 'string', title: text('title') }, tagged] },
      },
    },
    response_format: {
      type: 'object',
      properties: { [text('answer field')]: { description: text('answer description') } },
    },
    metadata: {
      details: text('details'),
      errors: [{ code: text('listed code'), meaning: text('meaning') }],
      examples: [{ [text('field')]: text('example') }],
    },
  };
}

function answer({ invocation_id }: AnyFrame, isFailing: boolean, text: (place: string) => string): AnyFrame {
  const frame = { type: 'invocationresult', invocation_id };
  if (!isFailing) return { ...frame, result: { [text('result name')]: text('result') } };
  const failure = {
    code: text('code'),
    message: text('message'),
    docs_url: 'javascript:ran.push(10)',
    fix: { [text('fix name')]: text('fix') },
    [text('extra name')]: text('extra'),
  };
  return { ...frame, error: { code: 'invocation_failed', message: JSON.stringify(failure) } };
}

/** Replaces the sandbox worker, which the test does not run: all payloads in each of its answers. */
export async function dialHostileSandboxes(url: string): Promise<Peer> {
  const peer = await Peer.dial(url);
  const sandboxes = hostiles('sandbox').map((name, at) => ({
    sandbox_id: hostile('sandbox id', at),
    name,
    image: hostile('image', at),
    isolation: hostile('rung', at),
    age_secs: 1,
  }));
  const entries = hostiles('guest file').map((name) => ({
    name,
    is_dir: true,
    size: 1,
    mode: '0755',
    is_symlink: false,
  }));
  const replies: Record<string, unknown> = {
    'sandbox::list': { sandboxes },
    'sandbox::catalog::list': { images: hostiles('catalogue').map((name) => ({ name })) },
    'sandbox::exec': {
      stdout: hostiles('guest stdout').join('\n'),
      stderr: hostiles('guest stderr').join('\n'),
      exit_code: 1,
      duration_ms: 1,
    },
    'sandbox::fs::ls': { entries },
  };
  for (const [id, reply] of Object.entries(replies)) peer.answer(id, () => reply);
  await peer.register(...Object.keys(replies));
  return peer;
}

/** Half a surrogate pair, which no address can hold. */
export const HALF = 'half \ud800';

/** Names that every object has, values that have no text, and ids that no address can hold. */
export async function dialOdd(url: string): Promise<Peer> {
  const peer = await Peer.dial(url);
  const reply: unknown = JSON.parse('{"__proto__":{"own":"⟨own 0⟩"},"constructor":{"prototype":{"own":"⟨own 1⟩"}}}');
  const textless = { toString: 1, valueOf: 1, own: '⟨enum 0⟩' };
  const properties: unknown = JSON.parse('{"__proto__":{"type":"integer"},"constructor":{"type":"integer"}}');
  const tagged = { type: 'object', properties: { tag: { const: { ...textless, own: '⟨tag 0⟩' } } }, required: ['tag'] };
  const pick = { enum: [textless] };
  const schema = { type: 'object', properties: { ...(properties as object), pick, either: { oneOf: [tagged, {}] } } };
  for (const id of ['odd::keys', `odd::${HALF}`]) {
    peer.answer(id, () => reply);
    peer.send({ type: 'registerfunction', id, request_format: schema, metadata: { examples: [{}] } });
  }
  await peer.call('engine::workers::register', { name: `odd ${HALF}`, pid: 1 });
  return peer;
}
