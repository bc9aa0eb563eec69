/** Checks that the images of sandboxes are cached or available, before a caller waits for one in vain. */
import { silentLog } from '#contract';
import { openImages, type Outlook, type SandboxConfig } from '#workers/sandbox';
import type { Finding } from './finding.ts';

/** The configuration of the images. */
interface Asked {
  outlook(name: string, signal: AbortSignal): Promise<Outlook>;
}

export async function checkImages(
  config: SandboxConfig,
  signal: AbortSignal,
  images: Asked = openImages(config, silentLog),
): Promise<Finding> {
  const check = 'images';
  const names = config.image_allowlist;
  if (names.length === 0) {
    const fix = 'list images in image_allowlist of the iii-sandbox block';
    return { check, status: 'warn', detail: 'no image may be used', fix };
  }
  const found = await Promise.all(names.map(async (name) => ({ name, outlook: await images.outlook(name, signal) })));
  const lacking = found.flatMap(({ name, outlook }) => (outlook.kind === 'none' ? [{ name, ...outlook }] : []));
  return {
    check,
    status: lacking.length > 0 ? 'warn' : 'ok',
    detail: found.map(({ name, outlook }) => `${name} ${asText(outlook)}`).join('; '),
    fix: lacking.length > 0 ? fixOf(lacking[0]!) : '',
  };
}

function asText(outlook: Outlook): string {
  switch (outlook.kind) {
    case 'here':
      return 'is here';
    case 'registry':
      return 'can be pulled';
    case 'build':
      return 'can be built here';
    case 'none':
      return `not available: ${outlook.why}`;
  }
}

function fixOf({ name, missing }: { name: string; missing: readonly string[] }): string {
  const byHand = `workcell sandbox import <archive> ${name}`;
  return missing.length === 0 ? byHand : `to build it, get ${missing.join(', ')}; or ${byHand}`;
}
