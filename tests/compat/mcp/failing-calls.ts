/** Calls that fail, one for each kind of failure, and the text that the model has to get. */
export interface FailingCall {
  tool: string;
  args: Record<string, unknown>;
  /** Start of the text. */
  begins: string;
  /** The help in it: the next step, the nearest name, the existing names. */
  says: string;
}

const STALE = `sha256:${'0'.repeat(64)}`;

/** `workspace` holds `a.txt` ("hello\nworld\n"), `twice.txt` ("x\nx\n") and a directory `full` with an entry. */
export function failingCalls(workspace: string): FailingCall[] {
  const at = (name: string) => `${workspace}/${name}`;
  const update = (...ops: object[]) => ({ files: [{ path: 'a.txt', ops }] });
  return [
    { tool: 'coder_read_file', args: { path: 'none' }, begins: 'C211: ', says: 'does not exist' },
    { tool: 'coder_read_file', args: { path: 'a.tx' }, begins: 'C211: ', says: 'did you mean a.txt?' },
    { tool: 'coder_read_file', args: { path: '../x' }, begins: 'C215: ', says: 'leaves base_path' },
    { tool: 'coder_read_file', args: { path: at('a.txt') }, begins: 'C210: ', says: 'did you mean a.txt?' },
    { tool: 'coder_read_file', args: { path: 'full' }, begins: 'C210: ', says: 'not a regular file' },
    { tool: 'coder_read_file', args: { file_path: 'a.txt' }, begins: 'C210: ', says: 'did you mean `path`?' },
    {
      tool: 'coder_read_file',
      args: { path: 'a.txt', offset: 2 },
      begins: 'C210: ',
      says: 'did you mean `line_from`?',
    },
    { tool: 'coder_read_file', args: { path: 'a.txt', line_from: 9 }, begins: 'C210: ', says: 'has 2 lines' },
    { tool: 'coder_search', args: { query: '(', regex: true }, begins: 'C210: ', says: '(' },
    { tool: 'coder_search', args: { query: '' }, begins: 'C210: ', says: 'query is empty' },
    {
      tool: 'coder_update_file',
      args: update({ op: 'replace', pattern: 'nothing', replacement: '' }),
      begins: 'FAILED: 1 of 1\n- a.txt: C210: ',
      says: 'no match',
    },
    {
      tool: 'coder_update_file',
      args: update({ op: 'remove', from_line: 7, to_line: 8 }),
      begins: 'FAILED: 1 of 1\n- a.txt: C210: ',
      says: 'the file has 2 lines',
    },
    {
      tool: 'coder_update_file',
      args: { files: [{ path: 'a.txt', ops: [{ op: 'insert', at_line: 1, content: '' }], expected_version: STALE }] },
      begins: 'FAILED: 1 of 1\n- a.txt: C221: ',
      says: '"expected_version":"sha256:',
    },
    {
      tool: 'coder_apply_patch',
      args: { patch: '*** Begin Patch\n*** Update File: a.txt\n@@\n-helo\n+bye\n*** End Patch' },
      begins:
        'C222: chunk 1 of a.txt does not fit: the nearest place is line 1, where line 1 is "hello" and not "helo"',
      says: 'world',
    },
    {
      tool: 'coder_create_file',
      args: { files: [{ path: 'a.txt', content: '' }] },
      begins: 'FAILED: 1 of 1\n- a.txt: C217: ',
      says: 'already exists',
    },
    { tool: 'coder_delete_file', args: { paths: ['full'] }, begins: 'FAILED: 1 of 1\n- full: C216: ', says: 'entries' },
    { tool: 'filesystem_read', args: { path: at('none') }, begins: 'F211: ', says: 'does not exist' },
    { tool: 'filesystem_read', args: { path: '/etc/passwd' }, begins: 'F215: ', says: 'outside allowed paths' },
    {
      tool: 'filesystem_edit',
      args: { path: at('a.txt'), old_string: 'helo', new_string: '' },
      begins: 'F219: ',
      says: 'hello',
    },
    {
      tool: 'filesystem_edit',
      args: { path: at('twice.txt'), old_string: 'x', new_string: 'y' },
      begins: 'F220: ',
      says: 'first at lines 1, 2',
    },
    {
      tool: 'filesystem_write',
      args: { path: at('a.txt'), content: '', expected_version: STALE },
      begins: 'F221: ',
      says: 'expected_version',
    },
    { tool: 'shell_exec', args: { command: 'git status' }, begins: 'invocation_failed: ', says: 'allowed are ls, cat' },
    { tool: 'shell_exec', args: { command: 'echo hi > x' }, begins: 'invocation_failed: ', says: 'coder::create-file' },
    { tool: 'shell_exec', args: { cmd: 'ls' }, begins: 'invocation_failed: ', says: 'did you mean `command`?' },
    { tool: 'shell_status', args: { job_id: 'none' }, begins: 'invocation_failed: ', says: 'no such job' },
    { tool: 'shell_fs_read', args: { path: at('none') }, begins: 'S211: ', says: 'does not exist' },
    { tool: 'shell_fs_read', args: { path: '/etc/shadow' }, begins: 'S215: ', says: '/etc/shadow' },
    { tool: 'shell_fs_rm', args: { path: at('full') }, begins: 'S214: ', says: 'with entries' },
    { tool: 'sandbox_create', args: { image: 'nosuch' }, begins: 'S100: ', says: 'python' },
    { tool: 'sandbox_exec', args: { sandbox_id: 'none', cmd: 'ls' }, begins: 'S001: ', says: 'sandbox_id' },
  ];
}

/** The part of a result that a model reads, as one text. */
export interface Seen {
  isError: boolean;
  text: string;
}

/** The calls whose failure did not reach the model as it should. */
export function lostFailures(calls: readonly FailingCall[], seen: readonly Seen[]): unknown[] {
  return calls.flatMap(({ tool, args, begins, says }, i) => {
    const { isError = false, text = '' } = seen[i] ?? {};
    return isError && text.startsWith(begins) && text.includes(says)
      ? []
      : [{ tool, args, begins, says, isError, text }];
  });
}
