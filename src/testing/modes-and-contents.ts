/** A directory as a table: everything below it with modes, link targets and contents. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Every entry below a directory, with mode and content. */
export function modesAndContents(directory: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (path: string) => {
    for (const name of readdirSync(join(directory, path)).sort()) {
      const inner = join(path, name);
      const stat = lstatSync(join(directory, inner));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) tree[inner] = `directory ${mode}`;
      else if (stat.isSymbolicLink()) tree[inner] = `link ${readlinkSync(join(directory, inner))}`;
      else tree[inner] = `${mode} ${readFileSync(join(directory, inner), 'base64')}`;
      if (stat.isDirectory()) walk(inner);
    }
  };
  walk('');
  return tree;
}
