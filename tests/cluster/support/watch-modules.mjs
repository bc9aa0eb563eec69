/** With `--import`: prints the modules of NATS that a process loads; with HIDE_NATS, as if they were not installed. */
import { register } from 'node:module';

register(
  `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    export async function resolve(specifier, context, next) {
      if (!specifier.startsWith('@nats-io/')) return next(specifier, context);
      writeSync(2, 'loads ' + specifier + '\\n');
      if (!process.env.HIDE_NATS) return next(specifier, context);
      throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
    }
  `)}`,
);
