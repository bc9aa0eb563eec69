/** The package has no types of its own. */
declare module 'parse-prometheus-text-format' {
  interface Family {
    name: string;
    help: string;
    metrics: { labels?: Record<string, string>; value?: string }[];
  }
  export default function parse(text: string): Family[];
}
