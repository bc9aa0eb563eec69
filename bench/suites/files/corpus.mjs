/** The folders and files that the suite works on, made anew in a temporary folder. */
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class Corpus {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-bench-')));

  path(name) {
    return join(this.root, name);
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** So many empty files in one folder. */
  flat(name, count) {
    mkdirSync(this.path(name));
    for (let i = 0; i < count; i++) closeSync(openSync(this.path(`${name}/file-${(i * 7919) % count}.txt`), 'w'));
  }

  /** A source tree of some depth: folders of three folders and six files each. */
  tree(name, depth) {
    for (let i = 0; i < 6; i++) this.text(`${name}/module-${i}.ts`, 2000);
    if (depth > 0) for (let i = 0; i < 3; i++) this.tree(`${name}/folder-${i}`, depth - 1);
  }

  text(name, bytes) {
    this.write(name, textOf(bytes));
  }

  write(name, content) {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  /** A text of many blocks; gives the number of its lines. */
  largeText(name, mebibytes) {
    const block = Buffer.from(textOf(1 << 20));
    const fd = openSync(this.path(name), 'w');
    for (let i = 0; i < mebibytes; i++) writeSync(fd, block);
    closeSync(fd);
    return mebibytes * block.toString().split('\n').length - mebibytes;
  }
}

/** Lines like those of a program, the last one ended. */
function textOf(bytes) {
  const lines = [];
  for (let length = 0, i = 0; length < bytes; i++) {
    const line = `${' '.repeat((i % 5) * 2)}const value${i} = compute(${i * 31}, "text ${i % 97}");`;
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join('\n').slice(0, bytes - 1)}\n`;
}
