/** The completion script for bash. */
import type { CommandNode, Takes } from './spec.ts';

export function bashScript(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => JSON.stringify(path));
  return `# Completion of workcell for bash: source <(workcell completion bash)
_workcell() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' flags='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    # After -- comes the command line of another program.
    [[ \${COMP_WORDS[i]} == -- ]] && return
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${known.join('|')}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  for ((; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -- ]] && return
  done
  case "$path $prev" in
${[...valueLines(nodes, 'file', 'COMPREPLY=($(compgen -f -- "$cur")); return'), ...valueLines(nodes, 'directory', 'COMPREPLY=($(compgen -d -- "$cur")); return'), ...valueLines(nodes, 'word', 'compopt +o default; return')].join('\n')}
  esac
  case $path in
${nodes.map(nodeLine).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o default -F _workcell workcell
`;
}

/** One line for all options that take such a value, if there are any. */
function valueLines(nodes: readonly CommandNode[], takes: Takes, does: string): string[] {
  const patterns = nodes.flatMap(({ path, options }) =>
    options
      .filter((option) => option.takes === takes)
      .flatMap(({ long, short }) => [`--${long}`, ...(short ? [`-${short}`] : [])])
      .map((flag) => JSON.stringify(`${path} ${flag}`)),
  );
  return patterns.length === 0 ? [] : [`    ${patterns.join('|')}) ${does} ;;`];
}

function nodeLine({ path, next, options, hasFiles }: CommandNode): string {
  const words = next.map(({ word }) => word).join(' ');
  const flags = options.map(({ long }) => `--${long}`).join(' ');
  // Offers no files where none may follow.
  const files = hasFiles ? '' : ' compopt +o default;';
  return `    ${JSON.stringify(path)}) words='${words}'; flags='${flags}';${files} ;;`;
}
