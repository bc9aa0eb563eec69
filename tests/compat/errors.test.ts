/** Failures as each SDK reads them: code, text and class, whichever peer failed. */
import { InvocationError } from 'iii-sdk';
import { IIIInvocationError } from 'iii-sdk-0-11';
import { expect, test } from 'vitest';

import { connect } from '#client';
import { startEngine } from '#testing';
import { connectSdk, pairs, versions, type SdkClient } from './support/clients.ts';
import { ownWorker } from './support/own-worker.ts';
import { RawPeer } from './support/raw-peer.ts';

const errorClass = { '0.22.1': InvocationError, '0.11.6': IIIInvocationError };

const thrown: [string, unknown, string][] = [
  ['an Error', new TypeError('the disk is full'), 'the disk is full'],
  ['a string', 'plain words', 'plain words'],
  ['an object', { code: 'E42', detail: 1 }, '[object Object]'],
];

test.each(pairs.flatMap((pair) => thrown.map((row) => [...pair, ...row] as const)))(
  'a %s handler fails towards a %s caller with %s',
  async (workerVersion, callerVersion, _what, value, text) => {
    await using engine = await startEngine();
    await using worker = connectSdk(workerVersion, engine.url);
    await using caller = connectSdk(callerVersion, engine.url);
    worker.registerFunction('always::fails', async () => {
      throw value;
    });
    await worker.settled();

    const error = await failureOf(caller, 'always::fails');

    expect(error).toBeInstanceOf(errorClass[callerVersion]);
    expect(readable(error)).toEqual({
      code: 'invocation_failed',
      message: `invocation_failed: ${text}`,
      function_id: 'always::fails',
      stacktrace: value instanceof Error ? value.stack : undefined,
    });
  },
);

test.each(versions)('%s: an unknown function fails at once, naming it', async (version) => {
  await using engine = await startEngine();
  await using caller = connectSdk(version, engine.url);

  expect(readable(await failureOf(caller, 'no::such'))).toEqual({
    code: 'function_not_found',
    message: 'function_not_found: Function no::such not found',
    function_id: 'no::such',
    stacktrace: undefined,
  });
});

test.each(versions)('%s: a mistyped function id is answered with the one that was meant', async (version) => {
  await using engine = await startEngine();
  await using caller = connectSdk(version, engine.url);
  caller.registerFunction('coder::read-file', async () => ({}));

  const { message } = readable(await failureOf(caller, 'coder::raed-file'));

  expect(message).toMatch(/^function_not_found: Function coder::raed-file not found\b.*coder::read-file/);
});

test.each(versions)(
  '%s: the code of our own worker is in the text, as JSON behind what the SDK adds',
  async (version) => {
    await using engine = await startEngine();
    const connection = await connect(engine.engine.dialer(), { name: 'own' });
    connection.serve(ownWorker());
    await using caller = connectSdk(version, engine.url);

    const error = readable(await failureOf(caller, 'own::weigh', { size: 11 }));

    expect(error).toEqual({
      code: 'invocation_failed',
      message: 'invocation_failed: {"code":"C213","message":"11 bytes is too much","fix":{"size":11,"max_bytes":10}}',
      function_id: 'own::weigh',
      stacktrace: undefined,
    });
    // As docs/compatibility.md has it.
    expect(JSON.parse(error.message.slice(error.message.indexOf('{')))).toMatchObject({ fix: { max_bytes: 10 } });
    connection.close();
  },
);

test('a worker that says stacktrace: null is corrected on the way', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  await using caller = connectSdk('0.22.1', engine.url);
  peer.send({ type: 'registerfunction', id: 'old::worker' });
  await peer.call('engine::workers::list');

  const failing = failureOf(caller, 'old::worker');
  const { invocation_id } = await peer.next('invokefunction');
  const error = { code: 'E1', message: 'no stack', stacktrace: null };
  peer.send({ type: 'invocationresult', invocation_id, function_id: 'old::worker', error });

  expect(readable(await failing)).toEqual({
    code: 'E1',
    message: 'E1: no stack',
    function_id: 'old::worker',
    stacktrace: undefined,
  });
});

test('an error of the engine has code and message and no other key', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);

  const { error } = await peer.call('no::such');

  expect(error).toStrictEqual({ code: 'function_not_found', message: 'Function no::such not found' });
});

test.each(versions)(
  '%s: a call of a function that is registered with an HTTP address fails and names the reason',
  async (version) => {
    await using engine = await startEngine();
    await using client = connectSdk(version, engine.url);
    client.registerFunction('far::away', { url: 'http://127.0.0.1:1/never', method: 'POST' });

    expect(readable(await failureOf(client, 'far::away')).message).toBe(
      'function_not_invokable: Function is HTTP-invoked and cannot be invoked locally',
    );
  },
);

async function failureOf(caller: SdkClient, function_id: string, payload: unknown = {}): Promise<unknown> {
  return caller.trigger({ function_id, payload }).then(
    (result: unknown) => expect.unreachable(`${function_id} answered ${JSON.stringify(result)}`),
    (error: unknown) => error,
  );
}

function readable(error: unknown) {
  const { code, message, function_id, stacktrace } = error as InvocationError;
  return { code, message, function_id, stacktrace };
}
