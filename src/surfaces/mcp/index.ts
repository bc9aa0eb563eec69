/** MCP over the catalogue: one server for standard input and for HTTP. */
export { mcpHttp } from './http.ts';
export { serveMcpOnStdio } from './stdio.ts';
export type { ToolProfile } from './tools.ts';
