/** Checks the pages: links resolve, and named files exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const pages = filesUnder(ROOT, /\.md$/);
const SOURCES = ['src', 'tests', 'bench', 'scripts', 'console/src', 'examples'];
/** Files that CONTRIBUTING.md has its readers write. */
const TO_WRITE = /^src\/(workers\/coder\/functions\/count-lines|workers\/sandbox\/backends\/plain\/|surfaces\/lines\/)/;

test.each(pages)('every relative link of %s names a file', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => !existsSync(join(ROOT, dirname(page), link)));
  expect(broken).toEqual([]);
});

test('every file that SPECIFICATION.md names exists', () => {
  const text = readFileSync(join(ROOT, 'SPECIFICATION.md'), 'utf8');
  const files = [...text.matchAll(/`((?:src|tests|bench|scripts)\/[^`]+)`/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('every source file that a page names exists', () => {
  // Logs by date name the files of that time.
  const current = pages.filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('docs/decisions/'));
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `/${folder}/${name}`),
  );
  /** Pages name a file from the root, or by the end of its path. */
  const exists = (name: string) => files.some((file) => file.endsWith(`/${name.replace(/\/$/, '')}`));
  const named = current.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replace(/```[\s\S]*?```/g, '');
    return [...text.matchAll(/`((?:[\w@-][\w@.-]*\/)+(?:[\w.-]+\.(?:tsx?|mjs|[ch]|css))?)`/g)]
      .map(([, name]) => name!)
      .filter((name) => /\.\w+$/.test(name) || SOURCES.some((folder) => name.startsWith(`${folder}/`)))
      .map((name) => ({ page, name }));
  });
  expect(named.length).toBeGreaterThan(300);
  expect(named.filter(({ name }) => !exists(name) && !TO_WRITE.test(name))).toEqual([]);
});

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const named = [...text.matchAll(/`([\w./{},*<>-]+)`/g)].map(([, path]) => path!);
  const paths = named.filter((path) => /\/|\.tsx?$/.test(path) && !path.startsWith('workcell/'));
  expect(paths.length).toBeGreaterThan(100);
  const all = ['src', 'console', 'docs', 'scripts', 'tests'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
  );
  // A name alone is a file beside the one before it.
  const isThere = (path: string) => {
    const wanted = path.replace(/\/$/, '').replace(/<\w+>/g, '*').replaceAll('.', '\\.');
    const pattern = new RegExp(
      `/${wanted.replaceAll('*', '[^/]+').replace(/\{([^}]*)\}/g, (_, each: string) => `(${each.replaceAll(',', '|')})`)}$`,
    );
    return all.some((one) => pattern.test(one));
  };
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test('no page names a folder of a developer’s machine', () => {
  const named = pages.filter((page) => /\/(root|home)\/(?!app\b)\w/.test(readFileSync(join(ROOT, page), 'utf8')));
  expect(named).toEqual([]);
});

test('no page or source counts what grows with the product', () => {
  const number =
    /\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(thir|four|fif|six|seven|eigh|nine)teen|(twen|thir|for|fif|six|seven|eigh|nine)ty/;
  const grown =
    /functions|tools|actions|error codes|file operations|file functions|languages|patterns|programs that|failures|attacks|attempts|kinds of callers|sets of headers|profiles|presets|backends|commands|checks|workers|metrics|pages of the console/;
  // A limit, a rate, and two that follow each other count nothing.
  const growing = new RegExp(`(?<!at most |between )\\b(${number.source}) (${grown.source})\\b(?! a second)`, 'i');
  const sources = ['src', 'console/src', 'deploy', 'examples'].flatMap((folder) =>
    filesUnder(join(ROOT, folder), /(?<!\.(?:test|contract))\.(tsx?|mjs|json|ya?ml|sh|service)$/),
  );
  const counted = [...pages, ...sources]
    // A log by date, like the decisions.
    .filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('docs/decisions/'))
    .flatMap((page) =>
      readFileSync(join(ROOT, page), 'utf8')
        .split('\n')
        .flatMap((line, at) => (growing.test(line) ? [`${page}:${at + 1}: ${line}`] : [])),
    );
  expect(counted).toEqual([]);
});

function filesUnder(folder: string, wanted: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : filesUnder(path, wanted);
    return wanted.test(entry.name) ? [relative(ROOT, path)] : [];
  });
}

test('cli.C16 README names what `npm start` installs as root, and how to refuse it', () => {
  const folder = join(ROOT, 'src/workers/sandbox/backends');
  interface Backend {
    isBroughtAtStart?: boolean;
    needs: { package: string }[];
  }
  const read = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as unknown;
  const backends = readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'backend.json')))
    .map((name) => read(`${name}/backend.json`) as Backend);
  const atStart = backends.filter(({ isBroughtAtStart }) => isBroughtAtStart).flatMap(({ needs }) => needs);
  const packages = [...(read('needs.json') as Backend['needs']), ...atStart].map((need) => need.package);
  for (const page of ['README.md', 'docs/guides/getting-started.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(
      [...packages.map((name) => `\`${name}\``), 'WORKCELL_NO_APT=1 npm start'].filter((it) => !text.includes(it)),
    ).toEqual([]);
  }
  expect(readFileSync(join(ROOT, 'scripts/sandbox-packages.mjs'), 'utf8')).toContain('process.env.WORKCELL_NO_APT');
});
