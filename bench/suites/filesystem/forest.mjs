/** A tree of many small files: a thousand folders at most three levels deep, the same number of files in each. */
import { mkdirSync, writeFileSync } from 'node:fs';

const FOLDERS = 1000;

/** Every thousandth file is called `rare.ts` and holds the word `needle_9`. */
export function plantForest(corpus, name, files) {
  const perFolder = files / FOLDERS;
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = corpus.path(`${name}/${folder % 10}/${Math.floor(folder / 10) % 10}/folder-${folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < perFolder; file++) {
      const isRare = (folder * perFolder + file) % 1000 === 0;
      writeFileSync(`${path}/${isRare ? 'rare' : `file-${file}`}.ts`, textOf(folder, file, isRare));
    }
  }
}

function textOf(folder, file, isRare) {
  const lines = Array.from(
    { length: 8 },
    (_, line) => `export const value${line} = compute(${folder}, ${file * line});`,
  );
  return `${lines.join('\n')}\n${isRare ? 'const needle_9 = true;\n' : ''}`;
}
