/**
 * Rows of S codes, for every worker that reports them: default status and meaning, as iii-sandbox has them; a worker may
 * override both, with the reason.
 *
 * `retryable` is as in the original's table.
 */
const row = (http: number, meaning: string) => ({ http, meaning, message: (d: { problem: string }) => d.problem });

export const sFailures = {
  S001: row(400, 'The request is malformed.'),
  S002: row(404, 'No sandbox ever had this id, as far as its worker remembers.'),
  S003: row(429, 'As many commands run in this sandbox as max_concurrent_exec_per_sandbox allows.'),
  S004: row(409, 'The sandbox was stopped: by a call, because it was idle, or because its machine ended.'),
  S100: row(404, 'No such image, or image_allowlist does not have it.'),
  S101: row(503, 'The image is not on this machine and auto_install is off.'),
  S102: { ...row(502, 'The image could not be fetched or built, or not as soon as patience_ms.'), retryable: true },
  S200: row(504, 'The command did not end in time and was killed. What it wrote so far is in the error.'),
  S210: row(400, 'The operation on a file or a job cannot be done as asked.'),
  S211: row(404, 'Nothing is at the path.'),
  S212: row(409, 'The path is of another kind than the operation needs.'),
  S213: row(409, 'The path already exists.'),
  S214: row(409, 'The directory has entries and the request does not say recursive.'),
  S215: row(403, 'The guest does not permit it.'),
  S216: row(500, 'The file system of the guest, or the connection to the guest, failed.'),
  S217: row(400, 'The pattern is not a valid regular expression.'),
  S218: {
    ...row(408, 'The upload stalled, or its channel broke off before it ended. Nothing was written.'),
    retryable: true,
  },
  S219: row(501, 'The agent in the guest does not know the operation.'),
  S220: row(404, 'There is no such job, or it was forgotten some time after its end.'),
  S221: row(409, 'The job has no input, its input was ended, or the job has ended.'),
  S222: row(501, 'The command cannot have a terminal.'),
  S223: row(400, 'The offset is beyond the end of the output.'),
  S224: { ...row(429, 'Too many callers are attached.'), retryable: true },
  S225: row(400, 'The signal cannot be sent to this job.'),
  S300: row(
    503,
    'The sandbox could not be started, or its machine died. In a cluster: its host was lost or is not reachable.',
  ),
  S400: row(429, 'A limit of the configuration is reached.'),
};
