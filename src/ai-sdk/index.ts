/** `workcell/ai-sdk`: the functions as tools of the Vercel AI SDK, which is a peer dependency. */
export { workcellTools, type ToolName, type WorkcellTools, type WorkcellToolsOptions } from './tools.ts';
