/**
 * The manifests in deploy/: each has the shape of its kind, and names only existing things.
 *
 * The types of Kubernetes judge the shape: a field that a kind does not have is an error of the compiler. No cluster runs
 * them here.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { availableWorkers, parseCluster, parseEntries } from '#assembly';
import { ClusterSettingsSchema } from '#cluster';
import { tempDir } from '#testing';
import { parseCommandLine } from '../../src/cli/command.ts';
import { start } from '../../src/cli/commands/start.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'deploy/kubernetes');
const MODULES: Record<string, string> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'policy/v1': 'policy/v1',
  'networking.k8s.io/v1': 'networking/v1',
};

interface Container {
  image: string;
  command?: string[];
  args: string[];
  volumeMounts: { name: string }[];
  env: { name: string; valueFrom?: { secretKeyRef?: { name: string } } }[];
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: {
    selector?: { matchLabels?: object } & object;
    template?: {
      metadata: { labels: object };
      spec: {
        containers: Container[];
        volumes: { name: string; configMap?: { name: string }; secret?: { secretName: string } }[];
      };
    };
  };
  data?: Record<string, string>;
}

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const manifests = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml') && !['nats-values.yaml', 'kustomization.yaml'].includes(name))
  .flatMap((name) => parseAllDocuments(read(name)).map((document) => document.toJS() as Manifest));
const named = (kind: string) => manifests.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
const pods = manifests.flatMap(({ kind, spec }) =>
  spec?.template ? [{ kind, ...spec, template: spec.template }] : [],
);

/** Errors of the compiler for these as objects of their kinds. */
async function complaints(objects: readonly Manifest[]): Promise<string> {
  const lines = objects.map(({ apiVersion, kind, ...rest }, at) => {
    const type = `import('kubernetes-types/${MODULES[apiVersion]}').${kind}`;
    return `export const m${at}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};`;
  });
  await using dir = await tempDir({
    'manifests.ts': lines.join('\n'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ strict: true, noEmit: true, module: 'nodenext', skipLibCheck: true, types: [] },
        paths: { 'kubernetes-types/*': [join(ROOT, 'node_modules/kubernetes-types/*.d.ts')] },
      },
    }),
  });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return await promisify(execFile)(process.execPath, [tsc, '-p', dir.root]).then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}

test('repo.P6 every manifest has the fields of its kind, and one with another is refused', async () => {
  const wrong = structuredClone(manifests.find(({ kind }) => kind === 'DaemonSet')!);
  Object.assign(wrong.spec!.template!.spec, { nodeSelectors: {} });
  const [fine, refused] = await Promise.all([complaints(manifests), complaints([wrong])]);
  expect(fine).toBe('');
  expect(refused).toContain('nodeSelectors');
  expect(manifests.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['DaemonSet', 'StatefulSet', 'Service', 'NetworkPolicy', 'PodDisruptionBudget', 'Secret']),
  );
});

test('selectors, volumes and secrets of the pods name what is there', () => {
  for (const { selector, template } of pods) {
    expect(template.metadata.labels).toMatchObject(selector!.matchLabels!);
    const { containers, volumes } = template.spec;
    const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(volumes.map(({ name }) => name)).toEqual(expect.arrayContaining(mounted));
    expect(named('ConfigMap')).toEqual(
      expect.arrayContaining(volumes.flatMap(({ configMap }) => configMap?.name ?? [])),
    );
    const secrets = [
      ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      ...containers.flatMap(({ env }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])),
    ];
    expect(named('Secret')).toEqual(expect.arrayContaining(secrets));
  }
  const { resources } = parse(read('kustomization.yaml')) as { resources: string[] };
  expect(readdirSync(FOLDER)).toEqual(expect.arrayContaining(resources));
});

test('the guides show the units that are there', () => {
  const guides = ['fleet', 'operations']
    .map((name) => readFileSync(join(ROOT, `docs/guides/${name}.md`), 'utf8'))
    .join();
  for (const name of readdirSync(join(ROOT, 'deploy/systemd'))) {
    expect(guides).toContain(`\`\`\`ini\n${readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')}\`\`\``);
  }
});

test('repo.P7 the image that the guide builds is the one that the cluster pulls, of this version and packed here', () => {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>;
  const { images } = parse(read('kustomization.yaml')) as { images: Record<string, string>[] };
  expect(images).toEqual([{ name, newName: expect.any(String), newTag: version }]);
  const used = pods.flatMap(({ template }) => template.spec.containers.map(({ image }) => image));
  expect(used).toEqual(used.map(() => `${name}:${version}`));

  const guide = readFileSync(join(ROOT, 'docs/guides/fleet.md'), 'utf8');
  const pulled = `${images[0]!.newName}:${version}`;
  const [, folder] = /^mkdir (\S+) && npm pack --pack-destination \1$/m.exec(guide)!;
  expect(guide).toContain(
    `docker build -t ${pulled} -f deploy/kubernetes/Dockerfile ${folder}\ndocker push ${pulled}\n`,
  );
  const build = read('Dockerfile');
  expect(build).toContain(`COPY ${name}-*.tgz /tmp/\nRUN npm install -g /tmp/${name}-*.tgz `);
  expect(build.match(/npm install/g)).toHaveLength(1);
});

test('start accepts the options of the containers and the configuration files', () => {
  for (const { template } of pods) {
    const [{ command, args }] = template.spec.containers as [Container];
    const words = command ? args[0]!.split('exec workcell ')[1]!.replaceAll('"', '').split(/\s+/) : args;
    expect(words[0]).toBe('start');
    expect(parseCommandLine(start, words.slice(1)).words).toEqual([]);
  }
  const files = manifests.find(({ kind }) => kind === 'ConfigMap')!.data!;
  for (const text of Object.values(files)) {
    const { servers, roles, share } = parseCluster(text);
    expect(ClusterSettingsSchema.parse({ servers, roles, share, node: 'a' }).servers).toHaveLength(1);
    expect(() => parseEntries(text, availableWorkers)).not.toThrow();
  }
});
