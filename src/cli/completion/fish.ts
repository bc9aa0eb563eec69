/** The completion script for fish. */
import type { CompletedOption, CommandNode } from './spec.ts';

export function fishScript(nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# Completion of workcell for fish: workcell completion fish | source
function __workcell_typed
  set -l typed
  for word in (commandline -opc)[2..-1]
    contains -- "$typed$word" ${known.join(' ')}
    or break
    set typed "$typed$word "
  end
  string trim -- "$typed"
end
function __workcell_is
  # After -- comes the command line of another program.
  not contains -- -- (commandline -opc)
  and test "$(__workcell_typed)" = "$argv[1]"
end
${nodes.flatMap(nodeLines).join('\n')}
`;
}

function nodeLines({ path, next, options, hasFiles }: CommandNode): string[] {
  const start = `complete -c workcell -n ${quoted(`__workcell_is ${quoted(path)}`)}`;
  return [
    ...(hasFiles ? [] : [`${start} -f`]),
    ...next.map(({ word, says }) => `${start} -a ${word} -d ${quoted(says)}`),
    ...options.map((option) => `${start} ${flagsOf(option)} -d ${quoted(option.says)}`),
  ];
}

function flagsOf({ long, short, takes }: CompletedOption): string {
  const names = [`-l ${long}`, ...(short ? [`-s ${short}`] : [])].join(' ');
  if (takes === undefined) return names;
  if (takes === 'file') return `${names} -r -F`;
  return takes === 'directory' ? `${names} -x -a '(__fish_complete_directories)'` : `${names} -x`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
