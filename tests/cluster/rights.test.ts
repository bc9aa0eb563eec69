/** Rights of callers across nodes: decided where the function runs, for the caller that its own node vouches for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Access, accessConfig } from '#access';
import { assembleCell, availableWorkers, presetEntries } from '#assembly';
import { ClusterSettingsSchema, joinCluster, OwnNode } from '#cluster';
import { connect } from '#client';
import {
  makePrincipal,
  silentLog,
  type AccessControl,
  type AuditedCall,
  type CallError,
  type Principal,
} from '#contract';
import { endToken } from '../../src/assembly/end-token.ts';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown, type TestNode } from './support/nodes.ts';

const recordsIn = (records: AuditedCall[]) => ({
  arguments: (_: unknown, payload: unknown) => payload,
  record: (call: AuditedCall) => void records.push(call),
  acted: () => {},
});

const codeOf = (error: unknown) => (error as CallError).code;

describe.skipIf(NO_NATS)('rights across nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let door: TestNode;
  let host: TestNode;
  const atDoor: AuditedCall[] = [];
  const atHost: AuditedCall[] = [];
  const alice = makePrincipal('token', 'alice');
  const policies: string[] = [];
  const access: AccessControl = {
    askTimeoutMs: 0,
    nodes: 'guests',
    decide(policy, { id }) {
      policies.push(policy);
      return { verdict: id === 'work::fail' ? 'deny' : 'allow', rule: `${policy}: 1` };
    },
  };

  beforeAll(async () => {
    nats = await NatsServers.start();
    [door, host] = await Promise.all([
      startNode(nats.urls, 'door', {}, { audit: recordsIn(atDoor) }),
      startNode(nats.urls, 'host', { aliases: ['spare'] }, { audit: recordsIn(atHost), access }),
    ]);
    await untilKnown(door, 'host');
  });
  afterAll(async () => {
    await Promise.all([door, host].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  test('cluster.P16 a call is in the audit of both nodes, and each names the caller', async () => {
    const data = { key: 'audited' };
    await door.bus.call('work::once', data, { namespace: 'host', caller: alice });
    const record = { functionId: 'work::once', arguments: data, outcome: 'ok' };
    expect(atDoor).toMatchObject([{ ...record, namespace: 'host', principal: { id: 'token:alice' } }]);
    expect(atHost).toMatchObject([{ ...record, principal: { id: 'token:alice@door', kind: 'token' } }]);
  });

  test('cluster.P17 what the caller was not granted is refused on the node of the function, and recorded there', async () => {
    for (const grants of [{ isReadOnly: true }, { only: ['coder'] }]) {
      const caller = makePrincipal('token', 'narrow', grants);
      const call = door.bus.call('work::once', { key: 'narrow' }, { namespace: 'host', caller });
      await expect(call).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(host.ran.has('narrow')).toBe(false);
    const refused = { outcome: 'forbidden', principal: { id: 'token:narrow@door' } };
    expect(atHost.slice(-2)).toMatchObject([refused, refused]);
  });

  test('bus.P18 what an app or preset of this node does not offer is not called on another node instead', async () => {
    const tools = { 'tool::wipe': () => 'wiped', 'tool::look': () => 'seen' };
    await addWorker(host.engine, tools);
    await addWorker(host.engine, tools, { namespace: 'host' });
    await addWorker(host.engine, tools, { namespace: 'a/b' });
    const call = (id: string) => door.bus.call(id, {});
    await expect.poll(() => call('tool::wipe').catch(String)).toBe('wiped');
    door.engine.deny('default', { functions: ['tool::wipe'], permissions: [], risks: [] });
    await expect(call('tool::wipe')).rejects.toMatchObject({ code: 'forbidden' });
    const onHost = (id: string, namespace: string) => door.bus.call(id, {}, { namespace }).catch(codeOf);
    const names = ['host', 'host/default', 'host/host', 'spare', 'spare/default', 'spare/host'];
    for (const name of names) {
      expect([name, await onHost('tool::wipe', name)]).toEqual([name, 'forbidden']);
      expect([name, await onHost('tool::look', name)]).toEqual([name, 'seen']);
    }
    expect(await call('tool::look')).toBe('seen');
    expect(await onHost('tool::wipe', 'host/a/b')).toBe('wiped');
    door.engine.deny('a/b', { functions: ['tool::wipe'], permissions: [], risks: [] });
    expect(await onHost('tool::wipe', 'host/a/b')).toBe('forbidden');
    expect(await host.bus.call('tool::wipe')).toBe('wiped');
  });

  test.each(['host', 'spare'])(
    'bus.P18 a policy that denies the namespace %s denies it by every name',
    async (denied) => {
      await addWorker(host.engine, { 'tool::cut': () => 'cut' });
      const policies = { guarded: [{ allow: { function: '*' } }, { deny: { namespace: denied } }] };
      const config = accessConfig.parse({ policies });
      const guard = await startNode(
        nats.urls,
        `guard-${denied}`,
        {},
        {
          access: new Access({ config, workspace: '/', find: () => undefined }),
        },
      );
      await untilKnown(guard, 'host');
      const caller = makePrincipal('token', 'guarded', { policy: 'guarded' });
      const call = (namespace: string) => guard.bus.call('tool::cut', {}, { namespace, caller }).catch(codeOf);
      await expect.poll(() => call('default')).toBe('cut');
      for (const name of ['host', 'host/default', 'host/host', 'spare', 'spare/default', 'spare/host']) {
        expect([name, await call(name)]).toEqual([name, 'forbidden']);
      }
      await guard[Symbol.asyncDispose]();
    },
  );

  test('bus.P18 a worker that the preset of this node leaves out is not called on another node instead', async () => {
    const worker = await addWorker(host.engine, { 'sandbox::create': () => 'made', 'sandbox::list': () => 'listed' });
    const preset = { name: 'look', holds: '', isShipped: false } as const;
    const entries = presetEntries(preset, availableWorkers, { workspace: process.cwd() });
    const cell = await assembleCell({ entries, log: silentLog });
    const settings = ClusterSettingsSchema.parse({ servers: [...nats.urls], node: 'looker' });
    const cluster = await joinCluster(cell.engine, settings, {
      log: silentLog,
      ownNode: new OwnNode(settings, '0'),
    });
    const bus = await connect(cell.engine.dialer(), { name: 'caller' });
    const on = (namespace: string) => (id: string) =>
      bus.call(id, {}, { namespace }).then(String, (error: unknown) => (error as CallError).code);
    const known = async () => JSON.stringify(await bus.call('engine::functions::list', { namespace: 'host' }));
    await expect.poll(known).toContain('"sandbox::create"');
    for (const call of [on('host'), on('default')]) {
      expect([await call('sandbox::create'), await call('sandbox::list')]).toEqual(['forbidden', 'forbidden']);
    }
    // It does not run: nothing of it is opened.
    expect(cell.workers.names).toEqual(
      entries.filter(({ def }) => def.functions.length > 0).map(({ def }) => def.name),
    );
    expect(cell.workers.names).not.toContain('iii-sandbox');
    worker.close();
    await cluster.leave();
    await cell.close();
  });

  test('a token that is removed takes its sandboxes and jobs on other nodes with it, and no others', async () => {
    const rowsOf = (ids: string[]) => ids.map((id) => ({ id, sandbox_id: id, caller: { id } }));
    const ids = ['token:ci', 'token:ci@door', 'token:ci#2@door curl', 'token:ci@else', 'token:ci2@door', 'token:ci2'];
    const ended: string[] = [];
    const end = (id: string) => void ended.push(id);
    const jobs = (name: string) => ({
      'shell::list': () => ({ jobs: rowsOf(ids).map((job) => ({ ...job, status: 'running' })) }),
      'shell::kill': ({ job_id }: { job_id: string }) => end(`${name}: ${job_id}`),
    });
    // The sandboxes of all hosts, as every node lists them.
    const fleet = {
      'sandbox::list': () => ({ sandboxes: rowsOf(ids).map((row) => ({ ...row, node: 'host' })) }),
      'sandbox::stop': ({ sandbox_id }: { sandbox_id: string }) => end(`door: stop ${sandbox_id}`),
    };
    await addWorker(host.engine, jobs('host'));
    await addWorker(door.engine, { ...jobs('door'), ...fleet }, { scope: 'host' });
    const known = async () => JSON.stringify(await door.bus.call('engine::functions::list', { namespace: 'host' }));
    await expect.poll(known).toContain('"shell::list"');
    await endToken(door.engine, 'ci', { namespaces: ['default'], log: silentLog });
    expect(ended.toSorted()).toEqual([
      'door: stop token:ci#2@door curl',
      'door: stop token:ci@door',
      'door: token:ci',
      'host: token:ci#2@door curl',
      'host: token:ci@door',
    ]);
  });

  test('cluster.P18 `access.nodes` of a node is the policy of callers at other nodes, and of no others', async () => {
    policies.length = 0;
    const call = door.bus.call('work::fail', {}, { namespace: 'host', caller: alice });
    await expect(call).rejects.toMatchObject({ code: 'forbidden' });
    expect(new Set(policies)).toEqual(new Set(['guests']));
    await expect(host.bus.call('work::fail', {})).rejects.toMatchObject({ code: 'X1' });
  });

  test("cluster.P19 draining a node needs the operator's key, which the caller's node vouches for", async () => {
    const drain = (caller: Principal, namespace?: string) =>
      door.bus.call('engine::nodes::drain', {}, { caller, ...(namespace && { namespace }) });
    const strangers: Principal[] = [alice, makePrincipal('local', 'http'), makePrincipal('page', 'console')];
    for (const caller of strangers) {
      await expect(drain(caller, 'host')).rejects.toMatchObject({ code: 'operator_only' });
      await expect(drain(caller)).rejects.toMatchObject({ code: 'operator_only' });
    }
    expect([door, host].map(({ cluster }) => cluster.ownNode.isDraining)).toEqual([false, false]);
    const operator = { ...makePrincipal('operator', 'http'), approves: true };
    const trigger = {
      trigger_type: 'engine::workers-available',
      function_id: 'engine::nodes::drain',
      namespace: 'host',
    };
    const { id } = (await door.bus.call('engine::register_trigger', trigger, { caller: operator })) as { id: string };
    await addWorker(door.engine, {});
    const refused = { functionId: trigger.function_id, namespace: 'host', principal: { id: operator.id } };
    await expect.poll(() => atDoor.at(-1)).toMatchObject({ ...refused, outcome: 'operator_only' });
    expect(host.cluster.ownNode.isDraining).toBe(false);
    await door.bus.call('engine::unregister_trigger', { id });
    await expect(drain(operator, 'host')).resolves.toMatchObject({ node: { name: 'host', state: 'draining' } });
    expect([door, host].map(({ cluster }) => cluster.ownNode.isDraining)).toEqual([false, true]);
    host.cluster.drain(false);
  });
});
