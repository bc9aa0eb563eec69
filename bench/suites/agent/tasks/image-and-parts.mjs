/** Reads an image and parts of files. */
import { join } from 'node:path';

import { process } from '../ways.mjs';

const IMAGE = 'src/assets/hero.png';
const [MAIN, STYLE] = ['src/main.js', 'src/style.css'];
const WHOLE = ['src/counter.js', 'index.html', 'package.json'];

export const imageAndParts = {
  name: 'own 4: read an image and five files',
  repository: 'vite-app',
  async coding(call) {
    await call('read', { paths: [IMAGE, `${MAIN}:1-30`, `${STYLE}:1-30`, ...WHOLE] });
  },
  async all(call) {
    await call('coder_read_file', { path: IMAGE });
    for (const path of [MAIN, STYLE]) await call('coder_read_file', { path, line_from: 1, line_to: 30 });
    for (const path of WHOLE) await call('coder_read_file', { path });
  },
  async filesystem(call, root) {
    await call('read_media_file', { path: join(root, IMAGE) });
    for (const path of [MAIN, STYLE]) await call('read_text_file', { path: join(root, path), head: 30 });
    await call('read_multiple_files', { paths: WHOLE.map((path) => join(root, path)) });
  },
  async commander(call, root) {
    await call('read_file', { path: join(root, IMAGE) });
    await process(call, root, `head -30 ${MAIN} ${STYLE}; cat ${WHOLE.join(' ')}`);
  },
  isDone: (_, replies) => ['(image)', 'setupCounter', 'vite-starter'].every((word) => replies.join().includes(word)),
};
