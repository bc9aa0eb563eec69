/** Measures patches: a small one against the same edit by line numbers, and large ones. */
import { formatMs, time } from '../../units.mjs';
import { openCoder } from './open-coder.mjs';

const MANY_MS = 150;
const MORE_MS = 1.5;

const patchOf = (...lines) => ['*** Begin Patch', '*** Update File: patched', ...lines, '*** End Patch'].join('\n');

export async function measurePatches(harness, corpus) {
  const call = await openCoder(corpus.root, { fsync: false });
  await compareSmall(harness, corpus, call);
  await measureLarge(harness, corpus, call);
}

async function compareSmall(harness, corpus, call) {
  const [PATCH, LINES] = ['coder::apply-patch', 'coder::update-file'];
  corpus.write('patched', Array.from({ length: 60 }, (_, i) => `line ${i + 1} of the file\n`).join(''));
  let [turn, now] = [0, 'line 30 of the file'];
  const next = () => [now, (now = `turn ${++turn}`)];
  const byPatch = () => {
    const [old, made] = next();
    const lines = ['@@', ' line 29 of the file', `-${old}`, `+${made}`, ' line 31 of the file'];
    return call(PATCH, { patch: patchOf(...lines) });
  };
  const byNumber = () => {
    const [, content] = next();
    return call(LINES, {
      files: [{ path: 'patched', ops: [{ op: 'update_lines', from_line: 30, to_line: 30, content }] }],
    });
  };
  const edits = await harness.compare({
    title: 'One line of a file of 60 lines, by a patch and by its number',
    base: LINES,
    cases: { [LINES]: async () => void (await byNumber()), [PATCH]: async () => void (await byPatch()) },
    rounds: 101,
  });
  const more = edits.median('time', PATCH) - edits.median('time', LINES);
  harness.bar({
    id: 'a small patch',
    goal: `≤ ${MORE_MS} ms over update-file`,
    measured: formatMs(more),
    met: more <= MORE_MS,
  });
}

async function measureLarge(harness, corpus, call) {
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i} of a long file ${(i * 7919) % 1000}`);
  const chunks = Array.from({ length: 1000 }, (_, i) => i * 100 + 50).flatMap((i) => [
    ...['@@', ` ${lines[i - 1]}`, `-${lines[i]}`, `+replaced ${i}`, ` ${lines[i + 1]}`],
  ]);
  const text = lines.map((line) => `${line}\n`).join('');
  const equal = '}\n'.repeat(120_000);
  const added = '+const välue = compute(31, "téxt 97"); // ü'.concat('\n').repeat(220_000);
  /** Content of the file, and the patch. */
  const patches = {
    '1,000 chunks in 100,000 lines': [text, patchOf(...chunks)],
    'a chunk that does not fit 120,000 equal lines': [equal, patchOf('@@', ' }', '-x', '+y')],
    '40,000 chunks in 120,000 equal lines': [equal, patchOf(...Array.from({ length: 40_000 }, () => '@@\n }\n-}\n+x'))],
    'a new file of 10 MB': ['', patchOf('@@', '+x').replace('*** End', `*** Add File: made\n${added}*** End`)],
  };
  const [MANY] = Object.keys(patches);
  const measured = await harness.compare({
    title: 'Large patches',
    base: MANY,
    measures: { time: { label: 'time', unit: time } },
    cases: Object.fromEntries(
      Object.entries(patches).map(([name, [content, patch]]) => [name, () => timed(corpus, call, { content, patch })]),
    ),
    rounds: 7,
  });
  const many = measured.median('time', MANY);
  harness.bar({ id: MANY, goal: `≤ ${MANY_MS} ms`, measured: formatMs(many), met: many <= MANY_MS });
}

/** Also measures a patch whose chunk does not match (C222). */
async function timed(corpus, call, { content, patch }) {
  corpus.write('patched', content);
  const start = performance.now();
  await call('coder::apply-patch', { patch }).catch((error) => {
    if (!error.message.includes('C222')) throw error;
  });
  return { time: performance.now() - start };
}
