/** The page at `/`: lists the HTTP endpoints. */
import { toHtml } from '#surfaces/reference';

export function homePage(version: string): string {
  const page = {
    slug: '',
    title: 'Workcell',
    blocks: [
      { kind: 'heading' as const, level: 1 as const, text: `Workcell ${version}` },
      { kind: 'text' as const, text: 'This port is the bus (WebSocket at `/`) and the HTTP API.' },
      {
        kind: 'table' as const,
        head: ['Endpoint', 'What it is'],
        rows: [
          ['`POST /functions/coder/read-file`', 'any function, its request as JSON'],
          ['`GET /functions`', 'what can be called'],
          ['`GET /openapi.json`', 'the same as OpenAPI 3.1'],
          ['`GET /docs`', 'reference pages and error codes'],
          ['`GET /metrics`', 'figures for Prometheus'],
          ['`GET /healthz`', 'whether the server is up'],
          ['`GET /readyz`', 'whether it takes calls for other nodes'],
        ],
      },
    ],
  };
  return toHtml(page, [
    { href: '/functions', text: 'Functions' },
    { href: '/openapi.json', text: 'OpenAPI' },
    { href: '/docs', text: 'Reference' },
  ]);
}
