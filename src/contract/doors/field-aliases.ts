/**
 * Suggests the known field for an unknown one.
 *
 * Models use field names of the tools they were trained with, which no edit distance finds: `offset` for
 * `line_from`. Each row lists names for one thing.
 */
import { nearestName } from '../nearest.ts';

const ALIASES = [
  'path file_path filename file_name file target_file absolute_path relative_path dir directory dir_path folder uri',
  'paths files file_paths path file_path',
  'line_from start_line from_line at_line insert_line offset start from begin_line first_line view_range',
  'line_to end_line to_line limit end to last_line',
  'query pattern regex search text needle q',
  'command cmd program executable script shell_command',
  'args argv arguments params',
  'timeout_ms timeout timeout_s timeout_secs timeout_seconds max_time',
  'cwd workdir working_directory working_dir directory',
  'old_string old_str old_text old search find pattern',
  'new_string new_str new_text new replace replacement replace_with',
  'content text contents body data file_text new_content',
  'max_matches max_results limit head_limit max_count count',
  'include_globs include_glob include glob globs file_pattern include_pattern',
  'exclude_globs exclude_glob exclude ignore exclude_pattern',
  'context_lines context before_context after_context lines_of_context',
  'ignore_case case_insensitive case_sensitive insensitive i',
  'max_depth depth levels',
  'source from src old_path origin',
  'destination to dst dest new_path target',
  'src from source old_path origin',
  'dst to destination dest new_path target',
  'from source src old_path',
  'to destination dst dest new_path',
  'job_id id job pid task_id shell_id',
  'sandbox_id id sandbox container_id container',
  'image template base_image runtime',
  'overwrite force replace_existing',
  'recursive recurse r deep',
  'patch diff input patch_text unified_diff',
  'pattern query regex search text needle q',
  'old old_string old_str old_text search find',
  'new new_string new_str new_text replace replacement replace_with',
  'glob include include_glob include_globs file_pattern include_pattern globs',
  'limit max_matches max_results head_limit max_count count',
  'context context_lines before_context after_context lines_of_context',
  'depth max_depth levels',
  'timeout_s timeout timeout_ms timeout_secs timeout_seconds max_time',
  'background run_in_background is_background detach',
  'id job_id job output_id task_id shell_id handle',
  'moves paths files from',
  'edits files changes',
].map((row) => row.split(' '));

/** The known field for the given one, if one is close enough. */
export function aliasedField(given: string, known: readonly string[]): string | undefined {
  const name = toSnakeCase(given);
  const spelled = known.find((field) => toSnakeCase(field) === name);
  const row = ALIASES.find(([field = '', ...aliases]) => known.includes(field) && aliases.includes(name));
  return spelled ?? row?.[0] ?? nearestName(given, known);
}

function toSnakeCase(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
