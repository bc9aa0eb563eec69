/**
 * Frames that no honest peer sends, the same ones on every run.
 *
 * Every field of every frame gets every wrong value; beside that come texts that are not JSON, JSON that is
 * not a frame, and bytes that are not text.
 */
export interface Malformed {
  kind: string;
  data: string | Buffer;
  isBinary: boolean;
}

const UUID = '8f14e45f-ceea-467f-a9c9-7b2f4e5d1a10';

/** One valid frame of each type, in either direction, with all its fields. */
const VALID: Record<string, unknown>[] = [
  {
    type: 'invokefunction',
    invocation_id: UUID,
    function_id: 'hostile::fn',
    data: { a: 1 },
    action: { type: 'enqueue', queue: 'q' },
    metadata: {},
    namespace: 'default',
    traceparent: '00-0-0-00',
    baggage: 'k=v',
  },
  {
    type: 'invocationresult',
    invocation_id: UUID,
    function_id: 'hostile::fn',
    result: 1,
    error: { code: 'a', message: 'b' },
  },
  {
    type: 'registerfunction',
    id: 'hostile::fn',
    description: 'd',
    request_format: {},
    response_format: {},
    metadata: {},
    invocation: { url: 'http://127.0.0.1:1' },
  },
  { type: 'unregisterfunction', id: 'healthy::echo' },
  {
    type: 'registertriggertype',
    id: 'hostile::type',
    description: 'd',
    trigger_request_format: {},
    call_request_format: {},
  },
  { type: 'unregistertriggertype', id: 'engine::workers-available' },
  {
    type: 'registertrigger',
    id: 't',
    trigger_type: 'hostile::type',
    function_id: 'hostile::fn',
    config: {},
    metadata: {},
  },
  { type: 'unregistertrigger', id: 't', trigger_type: 'hostile::type' },
  {
    type: 'triggerregistrationresult',
    id: 't',
    trigger_type: 'hostile::type',
    function_id: 'f',
    error: { code: 'a', message: 'b' },
  },
  { type: 'workerregistered', worker_id: UUID, reattach_token: UUID, features: ['cancel'] },
  { type: 'registrationrejected', code: 'C', namespace: 'default', owner_worker_id: UUID, function_id: 'f' },
  { type: 'cancelinvocation', invocation_id: UUID },
  { type: 'registerservice', id: 's' },
  { type: 'reattach', previous_worker_id: UUID, reattach_token: UUID },
  { type: 'ping' },
  { type: 'pong' },
];

const DEEP = 100_000;
const deepArray = '['.repeat(DEEP) + ']'.repeat(DEEP);
const deepObject = '{"a":'.repeat(DEEP) + 'null' + '}'.repeat(DEEP);

/** JSON texts of values that hardly any field takes. */
const WRONG_VALUES = [
  'null',
  'true',
  '0',
  '-1e308',
  '1e999',
  '9007199254740993',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"__proto__"',
  `"${'x'.repeat(600)}"`,
  '[]',
  '[null]',
  '{}',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  '{"code":null,"message":{}}',
];

export function malformedFrames(seed = 1): Malformed[] {
  const random = seeded(seed);
  return [...wrongFields(), ...notFrames(), ...torn(random), ...monsters(), ...garbage(random)];
}

function* wrongFields(): Generator<Malformed> {
  for (const frame of VALID) {
    const type = String(frame.type);
    yield text(`${type} as it is`, JSON.stringify(frame));
    for (const field of Object.keys(frame)) {
      const { [field]: _, ...rest } = frame;
      yield text(`${type} without ${field}`, JSON.stringify(rest));
      for (const value of WRONG_VALUES)
        yield text(`${type}.${field} = ${value.slice(0, 20)}`, withField(frame, field, value));
    }
    yield text(`${type} with ${field2(frame)} twice`, withField(frame, field2(frame), '"second"', 'keep'));
    yield text(`${type} with prototype keys`, withField(frame, '__proto__', '{"polluted":true}'));
    yield text(`${type} upper case`, JSON.stringify({ ...frame, type: type.toUpperCase() }));
  }
}

function* notFrames(): Generator<Malformed> {
  const texts = [
    '',
    ' ',
    '\n\t',
    '\0',
    '{',
    '}',
    '[]',
    '{}',
    'null',
    'NaN',
    '"ping"',
    '42',
    '{"type":}',
    "{'type':'ping'}",
  ];
  const more = [
    '{"type":"ping"}{"type":"ping"}',
    '{"type":"nonsense"}',
    '{"type":"error"}',
    '[{"type":"ping"}]',
    '\u{feff}{"type":"ping"}',
  ];
  for (const json of [...texts, ...more, ...WRONG_VALUES]) yield text(`not a frame: ${json.slice(0, 20)}`, json);
}

function* torn(random: () => number): Generator<Malformed> {
  for (const frame of VALID) {
    const json = JSON.stringify(frame);
    for (let cut = 0; cut < 8; cut++) {
      const at = Math.floor(random() * json.length);
      yield text(`${String(frame.type)} cut at ${at}`, json.slice(0, at));
      yield text(`${String(frame.type)} with a hole at ${at}`, json.slice(0, at) + json.slice(at + 1));
    }
  }
}

/** Valid or nearly so, and too much of it. */
function* monsters(): Generator<Malformed> {
  const long = JSON.stringify('x'.repeat(1024 * 1024));
  for (const frame of VALID) {
    for (const field of Object.keys(frame).filter((key) => key !== 'type')) {
      for (const deep of [deepArray, deepObject, '['.repeat(DEEP)]) {
        yield text(`${String(frame.type)}.${field} nested deep`, withField(frame, field, deep));
      }
    }
    for (const field of ['id', 'invocation_id', 'function_id', 'metadata', 'config', 'description']) {
      yield text(`${String(frame.type)}.${field} of a mebibyte`, withField(frame, field, long));
    }
  }
}

function* garbage(random: () => number): Generator<Malformed> {
  for (let n = 0; n < 200; n++) {
    const bytes = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 300) }, () => Math.floor(random() * 256)));
    yield { kind: 'random bytes', data: bytes, isBinary: true };
  }
  for (const frame of VALID) {
    const json = Buffer.from(JSON.stringify({ ...frame, data: '~', result: '~', description: '~' }));
    for (let at = json.indexOf('~'); at >= 0; at = json.indexOf('~', at + 1)) json[at] = 0xff;
    yield { kind: `${String(frame.type)} that is not UTF-8`, data: json, isBinary: true };
    yield { kind: `${String(frame.type)} that is not UTF-8, as text`, data: json, isBinary: false };
  }
  for (const prefix of ['OTLP', 'MTRC', 'LOGS', 'OTL']) {
    yield { kind: 'telemetry', data: Buffer.from(`${prefix}{"type":"ping"}`), isBinary: true };
  }
}

function text(kind: string, data: string): Malformed {
  return { kind, data, isBinary: false };
}

/** The frame with one field of the given JSON text, instead of its own or after it. */
function withField(
  frame: Record<string, unknown>,
  field: string,
  valueText: string,
  own: 'keep' | 'drop' = 'drop',
): string {
  const fields = Object.entries(frame).filter(([key]) => own === 'keep' || key !== field);
  return `{${[...fields.map(([key, value]) => `"${key}":${JSON.stringify(value)}`), `"${field}":${valueText}`].join()}}`;
}

function field2(frame: Record<string, unknown>): string {
  return Object.keys(frame)[1] ?? 'type';
}

/** Mulberry32: small, and the same everywhere. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
