/** The completion script for zsh. */
import type { CompletedOption, CommandNode } from './spec.ts';

const VALUE = { file: ':file:_files', directory: ':directory:_files -/', word: ':value: ' } as const;

export function zshScript(nodes: readonly CommandNode[]): string {
  return `#compdef workcell
# Completion of workcell for zsh: source <(workcell completion zsh), after compinit.
_workcell() {
  local typed='' longer
  local -a next
  integer at=1
  while (( at + 1 < CURRENT )); do
    longer="\${typed:+$typed }\${words[at+1]}"
    case $longer in
      (${nodes
        .filter(({ path }) => path !== '')
        .map(({ path }) => quoted(path))
        .join('|')}) typed=$longer; (( at++ )) ;;
      (*) break ;;
    esac
  done
  shift $(( at - 1 )) words
  (( CURRENT -= at - 1 ))
  case $typed in
${nodes.map(nodeLines).join('\n')}
  esac
}
if [[ $funcstack[1] == _workcell ]]; then _workcell "$@"; else compdef _workcell workcell; fi
`;
}

function nodeLines({ path, next, options, hasFiles }: CommandNode): string {
  const words = next.map(({ word, says }) => `      ${quoted(`${word}:${says}`)}`).join('\n');
  const described = next.length === 0 ? [] : [`next=(\n${words}\n    )`, `_describe -t commands command next`];
  const flags = options.map(optionSpec).map((spec) => `      ${spec}`);
  const rest = hasFiles ? "'*:file:_files'" : "'*: : '";
  const given = options.length === 0 ? [] : [`_arguments -s : \\\n${flags.join(' \\\n')} \\\n      ${rest}`];
  return `    (${quoted(path)})\n    ${[...described, ...given].join('\n    ')} ;;`;
}

function optionSpec({ long, short, takes, isRepeatable, says }: CompletedOption): string {
  const value = takes === undefined ? '' : VALUE[takes];
  const words = `[${says.replaceAll(/[[\]]/g, '\\$&')}]${value}`;
  const repeat = isRepeatable ? '*' : '';
  const spellings = [`--${long}`, ...(short ? [`-${short}`] : [])];
  return spellings.map((spelling) => quoted(`${repeat}${spelling}${words}`)).join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
