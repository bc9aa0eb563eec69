/** The text of `/metrics`, read by a parser that others wrote. */
import parse from 'parse-prometheus-text-format';

/** Values by metric and labels: `workcell_channels{}`. A series that stands twice is an error. */
export function parsePrometheus(text: string): Map<string, number> {
  const found = new Map<string, number>();
  // The parser joins the histograms of one name: as plain series each stays as it was written.
  for (const { name, metrics } of parse(text.replaceAll(/^# TYPE (\S+) histogram$/gm, '# TYPE $1 untyped'))) {
    for (const { labels = {}, value } of metrics) {
      const key = `${name}${JSON.stringify(labels)}`;
      if (found.has(key)) throw new Error(`${key} stands twice`);
      found.set(key, Number(value));
    }
  }
  return found;
}
