/**
 * The Rust samples of the seeds, built with the published SDK and run against our engine and workers.
 *
 * Needs cargo and crates.io; a first build takes minutes.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { report, run, serveForPrograms } from '../tests/compat/support/published-sdks.mjs';

/** Imports of the samples; since 0.12 the request type is no longer at the root of the crate. */
const OLD_IMPORT = 'InitOptions, TriggerRequest}';
const NEW_IMPORT = 'InitOptions, protocol::TriggerRequest}';
/** The samples, and what each prints among other things, in the spelling of serde_json since 1.0.108 or of older ones. */
const SAMPLES = { coder: ['content', '# notes\ndraft\n- one\n- ONE\n'], shell: ['stdout', 'hello\n'] };

const given = process.argv.slice(2);
const versions = given.length > 0 ? given : ['0.26.0-rc.4', '0.22.1', '0.11.6'];
const served = await serveForPrograms();
const folder = mkdtempSync(join(tmpdir(), 'workcell-compat-rust-'));
const checks = [];
try {
  for (const version of versions) checks.push(...(await tryVersion(version)));
} finally {
  rmSync(folder, { recursive: true });
  await served.close();
}
report('compat:rust', checks);

async function tryVersion(version) {
  const project = join(folder, version);
  mkdirSync(join(project, 'src', 'bin'), { recursive: true });
  writeFileSync(join(project, 'Cargo.toml'), manifest(version));
  for (const name of Object.keys(SAMPLES))
    writeFileSync(join(project, 'src', 'bin', `${name}.rs`), program(name, version));

  const env = { CARGO_TARGET_DIR: join(folder, 'target'), OTEL_ENABLED: 'false' };
  const built = await run('cargo', ['build', '--quiet'], { cwd: project, env, deadlineMs: 1_200_000 });
  if (built.code !== 0) {
    return [{ name: `iii-sdk ${version}`, isOk: false, detail: `cargo build failed: ${built.stderr.slice(-1_500)}` }];
  }

  // The sample of coder wants to create it.
  rmSync(join(served.workspace, 'notes.md'), { force: true });
  const checks = [];
  for (const [name, printed] of Object.entries(SAMPLES)) checks.push(await check(name, version, printed, env));
  return checks;
}

async function check(name, version, [field, text], env) {
  const { code, stdout, stderr } = await run(join(folder, 'target', 'debug', name), [], { env, deadlineMs: 60_000 });
  const value = JSON.stringify(text);
  const spellings = [`"${field}": String(${value})`, `"${field}": String(\n        ${value},\n    )`];
  const isOk = code === 0 && spellings.some((spelling) => stdout.includes(spelling));
  const detail = isOk ? `printed ${field} ${value}` : `exit ${code}, printed "${stdout}" ${stderr.slice(-500)}`;
  return { name: `iii-sdk ${version}, ${name}`, isOk, detail };
}

function manifest(version) {
  return `[package]
name = "samples"
version = "0.0.0"
edition = "2021"

[dependencies]
iii-sdk = "=${version}"
anyhow = "1"
serde_json = "1"
tokio = { version = "1", features = ["full"] }
`;
}

function program(name, version) {
  const isOld = Number(version.split('.')[1]) < 12;
  const text = served.sample(`${name}.rust`);
  return isOld ? text : text.replace(OLD_IMPORT, NEW_IMPORT);
}
