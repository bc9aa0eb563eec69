import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** A socket that opens and closes when the test decides. */
class TestSocket extends EventTarget {
  readyState = 0;
  send(): void {}
  close(): void {}

  be(state: 'open' | 'close'): void {
    this.readyState = state === 'open' ? 1 : 3;
    this.dispatchEvent(new Event(state));
  }
}

/** The page's session, its sockets, and its requests for the reason of a lost connection, which the test answers. */
async function startSession() {
  const sockets: TestSocket[] = [];
  const questions: ((status: number) => void)[] = [];
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('sessionStorage', storage);
  vi.stubGlobal('location', { href: 'http://localhost/' });
  vi.stubGlobal(
    'WebSocket',
    class extends TestSocket {
      constructor() {
        super();
        sockets.push(this);
      }
    },
  );
  vi.stubGlobal('fetch', () => new Promise((resolve) => questions.push((status) => resolve({ status }))));
  const session = await import('./session.ts');
  session.connect();
  return { ...session, sockets, questions };
}

const aTurn = () => new Promise((resolve) => setTimeout(resolve, 0));

test('a page without the token asks for it, and no more when it is connected', async () => {
  const { sockets, questions, wantsToken, giveToken } = await startSession();
  sockets[0]!.be('close');
  questions[0]!(401);
  await expect.poll(() => wantsToken.value).toBe(true);

  giveToken('right');
  sockets[1]!.be('open');
  expect(wantsToken.value).toBe(false);
});

test.each(['before', 'after'])(
  'the outcome of the previous token, known %s the next one connects, is ignored',
  async (when) => {
    const { sockets, questions, wantsToken, giveToken } = await startSession();
    giveToken('wrong');
    sockets[1]!.be('close');
    giveToken('right');
    if (when === 'before') questions[0]!(401);
    await aTurn();
    sockets[2]!.be('open');
    if (when === 'after') questions[0]!(401);
    await aTurn();
    expect(wantsToken.value).toBe(false);
  },
);
