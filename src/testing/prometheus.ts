/** The text of `/metrics`, parsed by an independent parser. */
import parse from 'parse-prometheus-text-format';

/** Values by metric and labels: `workcell_channels{}`. A duplicate series is an error. */
export function parsePrometheus(text: string): Map<string, number> {
  const found = new Map<string, number>();
  // The parser merges the histograms of one name; as plain series each keeps its form.
  for (const { name, metrics } of parse(text.replaceAll(/^# TYPE (\S+) histogram$/gm, '# TYPE $1 untyped'))) {
    for (const { labels = {}, value } of metrics) {
      const key = `${name}${JSON.stringify(labels)}`;
      if (found.has(key)) throw new Error(`duplicate series ${key}`);
      found.set(key, Number(value));
    }
  }
  return found;
}
