/** With `--import`: prints the optional packages that a process loads; those that start with HIDE_PACKAGES fail to resolve. */
import { register } from 'node:module';

register(
  `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    export async function resolve(specifier, context, next) {
      if (!/^@(nats-io|opentelemetry)\\//.test(specifier)) return next(specifier, context);
      writeSync(2, 'loads ' + specifier + '\\n');
      const hidden = process.env.HIDE_PACKAGES;
      if (!hidden || !specifier.startsWith(hidden)) return next(specifier, context);
      throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
    }
  `)}`,
);
