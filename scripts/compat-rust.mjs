/**
 * The Rust quickstart of the originals, built with the published SDK and run against our engine.
 *
 * Needs cargo and crates.io; a first build takes minutes. Steps whose function is not served are left out, and
 * their effect is put on the disk beforehand.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { report, run, serveForPrograms } from '../tests/compat/support/published-sdks.mjs';

const CREATE = `
// Create a file.
iii.trigger(TriggerRequest {
function_id: "coder::create-file".into(),
payload: json!({
"files": [{
"path": "notes.md",
"content": "# notes\\n- one\\n- two\\n",
"overwrite": false
}]
}),
action: None,
timeout_ms: Some(5_000),
}).await?;
`;
const UPDATE = `
// Apply two ops bottom-up in a single batch.
iii.trigger(TriggerRequest {
function_id: "coder::update-file".into(),
payload: json!({
"files": [{
"path": "notes.md",
"ops": [
{ "op": "insert", "at_line": 2, "content": "draft" },
{ "op": "update_lines", "from_line": 3, "to_line": 3, "content": "- ONE" }
]
}]
}),
action: None,
timeout_ms: Some(5_000),
}).await?;
`;
const quickstart = (imports, steps) => `
${imports}
use serde_json::json;
#[tokio::main]
async fn main() -> anyhow::Result<()> {
let iii = register_worker("ws://localhost:49134", InitOptions::default());
${steps}
// Read it back.
let read = iii.trigger(TriggerRequest {
function_id: "coder::read-file".into(),
payload: json!({ "path": "notes.md" }),
action: None,
timeout_ms: Some(5_000),
}).await?;
println!("{read:#?}");
Ok(())
}
`;
/** What the original imports; since 0.12 the request type is no longer at the root of the crate. */
const OLD_IMPORTS = 'use iii_sdk::{register_worker, InitOptions, TriggerRequest};';
const NEW_IMPORTS = 'use iii_sdk::{register_worker, InitOptions, protocol::TriggerRequest};';
const UPDATED_NOTES = '# notes\ndraft\n- one\n- ONE\n';

const given = process.argv.slice(2);
const versions = given.length > 0 ? given : ['0.26.0-rc.4', '0.22.1', '0.11.6'];
const served = await serveForPrograms();
const folder = mkdtempSync(join(tmpdir(), 'workcell-compat-rust-'));
const checks = [];
try {
  for (const version of versions) checks.push(await tryVersion(version));
} finally {
  rmSync(folder, { recursive: true });
  await served.close();
}
report('compat:rust', checks);

async function tryVersion(version) {
  const name = `iii-sdk ${version}, ${servesAllSteps() ? 'create, update, read' : 'read-file (create and update are not served yet)'}`;
  const project = join(folder, version);
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'Cargo.toml'), manifest(version));
  writeFileSync(join(project, 'src', 'main.rs'), program(version));

  const env = { CARGO_TARGET_DIR: join(folder, 'target'), OTEL_ENABLED: 'false' };
  const built = await run('cargo', ['build', '--quiet'], { cwd: project, env, deadlineMs: 1_200_000 });
  if (built.code !== 0) return { name, isOk: false, detail: `cargo build failed: ${built.stderr.slice(-1_500)}` };

  placeNotes();
  const binary = join(folder, 'target', 'debug', 'quickstart');
  const { code, stdout, stderr } = await run(binary, [], { env, deadlineMs: 60_000 });
  const expected = `"content": String(\n        ${JSON.stringify(UPDATED_NOTES)},\n    )`;
  const isOk =
    code === 0 && (stdout.includes(expected) || stdout.includes(`"content": String(${JSON.stringify(UPDATED_NOTES)})`));
  const detail = isOk
    ? `printed content ${JSON.stringify(UPDATED_NOTES)}`
    : `exit ${code}, printed "${stdout}" ${stderr.slice(-500)}`;
  return { name, isOk, detail };
}

function manifest(version) {
  return `[package]
name = "quickstart"
version = "0.0.0"
edition = "2021"

[dependencies]
iii-sdk = "=${version}"
anyhow = "1"
serde_json = "1"
tokio = { version = "1", features = ["full"] }
`;
}

function program(version) {
  const isOld = Number(version.split('.')[1]) < 12;
  const steps = servesAllSteps() ? CREATE + UPDATE : '';
  return quickstart(isOld ? OLD_IMPORTS : NEW_IMPORTS, steps).replace(':49134', `:${served.port}`);
}

function servesAllSteps() {
  return ['coder::create-file', 'coder::update-file'].every((id) => served.functionIds.includes(id));
}

/** The original's first step wants no such file; without that step it has to be there. */
function placeNotes() {
  const file = join(served.workspace, 'notes.md');
  if (servesAllSteps()) rmSync(file, { force: true });
  else writeFileSync(file, UPDATED_NOTES);
}
