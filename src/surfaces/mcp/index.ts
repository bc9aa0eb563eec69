/** MCP over the catalogue: one server for standard input and for HTTP. */
export { mcpHttp } from './http.ts';
export { parseProfiles, UnknownProfile } from './profiles.ts';
export { imagesIn, type ImageField } from './results.ts';
export { shippedTools, type ShippedTools } from './shipped-tools.ts';
export type { EarlyList } from './lazy-tools.ts';
export { serveMcpOnStdio } from './stdio.ts';
export { toTools, type ToolProfile } from './tools.ts';
