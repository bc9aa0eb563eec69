/** The configuration that the cases shell.X of docs/cases.md are written for. */
export function shellCases(root: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    allowlist: ['echo', 'sh', 'sleep', 'cat', 'printf', 'env', 'pwd', 'ls'],
    denylist_patterns: ['deny_marker'],
    max_output_bytes: 4096,
    max_concurrent_jobs: 2,
    job_retention_secs: 2,
    fs: { host_root: root },
    ...more,
  };
}
