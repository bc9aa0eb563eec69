import { expectTypeOf, test } from 'vitest';

import type { FunctionId, FunctionTypes, RequestOf, ResponseOf, TypedBus, WorkerChoice } from './function-types.ts';

declare const bus: TypedBus;

type Loose<Side extends 'request' | 'response'> = {
  [Id in FunctionId]: unknown extends FunctionTypes[Id][Side] ? Id : never;
}[FunctionId];

test('requests and responses come from the definitions', () => {
  expectTypeOf<RequestOf<'coder::read-file'>['path']>().toEqualTypeOf<string>();
  expectTypeOf<ResponseOf<'coder::read-file'>['size']>().toEqualTypeOf<number>();
  expectTypeOf<ResponseOf<'shell::exec'>['stdout']>().toEqualTypeOf<string>();
  expectTypeOf<RequestOf<'sandbox::fs::ls'>['sandbox_id']>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<ResponseOf<'filesystem::ls'>['data']>['count']>().toEqualTypeOf<number>();
});

test('calls on changes and in a change are typed', () => {
  expectTypeOf<ResponseOf<'change::begin'>['change']>().toEqualTypeOf<string>();
  expectTypeOf<ResponseOf<'change::commit'>['closed']>().toEqualTypeOf<boolean>();
  expectTypeOf<RequestOf<'shell::exec'>['change']>().toEqualTypeOf<string | null | undefined>();
  void (() => bus.call('coder::read-file', { path: 'a', change: 'mine' }));
  void (() => bus.call('filesystem::ls', { path: 'a', change: 'mine' }));
  // @ts-expect-error: the name of a change is a string
  void (() => bus.call('coder::read-file', { path: 'a', change: 1 }));
  // @ts-expect-error: a sandbox is not in a change
  void (() => bus.call('sandbox::list', { change: 'mine' }));
});

test('no function takes or gives just anything', () => {
  expectTypeOf<Loose<'request'>>().toBeNever();
  expectTypeOf<Loose<'response'>>().toBeNever();
});

test('every id is a literal, so a wrong one is not an id', () => {
  expectTypeOf<string>().not.toExtend<FunctionId>();
  expectTypeOf<'coder::raed-file'>().not.toExtend<keyof FunctionTypes>();
});

test('library.P2 a call is checked against its request; an unknown function takes and returns anything', () => {
  const call = () => bus.call('coder::read-file', { path: 'a' });
  expectTypeOf(call).returns.resolves.toHaveProperty('content').toEqualTypeOf<string>();
  // @ts-expect-error: a path is a string
  void (() => bus.call('coder::read-file', { path: 1 }));
  // @ts-expect-error: a path has to be given
  void (() => bus.call('coder::read-file'));
  void (() => bus.call('coder::tree'));

  const other = () => bus.call('reviews::open', { any: 1 });
  expectTypeOf(other).returns.resolves.toBeUnknown();
});

test('a worker is configured by its own keys', () => {
  expectTypeOf({ name: 'shell' as const, config: { allowlist: ['git'] } }).toExtend<WorkerChoice>();
  expectTypeOf({ name: 'shell' as const, config: { allowlist: 'git' } }).not.toExtend<WorkerChoice>();
  expectTypeOf({ name: 'shall' as const }).not.toExtend<WorkerChoice>();
});
