/** sandbox::catalog::list: lists the named images, allowed or not. */
import { z } from 'zod';

import { wire } from '#contract';
import { sandbox } from '../../worker.ts';

const CatalogEntryKind = wire.named('CatalogEntryKind', z.xor([z.enum(['preset']), z.enum(['custom'])]));

const CatalogEntry = wire.named(
  'CatalogEntry',
  z.object({
    name: z.string().describe('Name to pass as `image`.'),
    oci_ref: z.string().describe('Source of the image.'),
    kind: CatalogEntryKind.describe('Whether it comes with Workcell or from custom_images.'),
    allowed: z.boolean().optional().describe('Whether image_allowlist has it, so that sandbox::create accepts it.'),
    cached: z.boolean().optional().describe('Whether it is on this machine already.'),
  }),
);

export const list = sandbox.defineFunction({
  id: 'sandbox::catalog::list',
  summary: "List the images by name: presets first, then the operator's own.",
  effect: 'read',
  permissions: ['sandbox.read'],
  request: z.object({}).meta({ title: 'CatalogListRequest' }),
  response: z
    .object({
      images: z.array(CatalogEntry).describe('Presets in a fixed order, then custom images by name.'),
      cache_id: z.string().optional().describe('Id of the image cache; two servers with the same id share one.'),
    })
    .meta({ title: 'CatalogListResponse' }),
  errors: [],
  examples: [{}],

  async handle(_, { config, images }) {
    const rows = images.catalogue.map(async ({ name, ref, kind }) => ({
      name,
      oci_ref: ref,
      kind,
      allowed: config.image_allowlist.includes(name),
      cached: await images.isCached(name),
    }));
    const { cacheId } = images;
    return { images: await Promise.all(rows), ...(cacheId !== undefined && { cache_id: cacheId }) };
  },
});
