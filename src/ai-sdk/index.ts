/** `workcell/ai-sdk`: the functions as tools of the Vercel AI SDK, which the program brings itself. */
export { workcellTools, type WorkcellToolsOptions } from './tools.ts';
