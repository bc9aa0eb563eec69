/** A workspace of many files in a git repository, removed in the end. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILES_A_FOLDER = 50;
const LINES = 60;

export class Tree {
  constructor(count) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-bench-')));
    this.workspace = join(this.root, 'ws');
    this.state = join(this.root, 'state');
    this.count = count;
    mkdirSync(this.state);
    for (let at = 0; at < count; at++) {
      if (at % FILES_A_FOLDER === 0) mkdirSync(join(this.workspace, this.folder(at)), { recursive: true });
      writeFileSync(join(this.workspace, this.path(at)), this.text(at));
    }
  }

  folder(at) {
    const folder = Math.floor(at / FILES_A_FOLDER);
    return `m${folder % 50}/p${folder}`;
  }

  path(at) {
    return `${this.folder(at)}/file_${at}.ts`;
  }

  text(at) {
    return Array.from({ length: at % 100 === 0 ? LINES : 3 }, (_, line) => `const value${line} = ${at};\n`).join('');
  }

  git(...words) {
    execFileSync('git', ['-c', 'user.email=bench@example.com', '-c', 'user.name=bench', ...words], {
      cwd: this.workspace,
      stdio: 'ignore',
    });
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}
