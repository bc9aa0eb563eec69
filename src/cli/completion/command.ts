/** workcell completion: prints a script with which a shell completes the commands and options. */
import { didYouMean } from '#contract';
import { UsageError, type Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { commandNodes } from './spec.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export const completion: Command = {
  name: 'completion',
  summary: 'Print the completion script for bash, zsh or fish.',
  usage: '<bash|zsh|fish>',
  details:
    'For every new shell: add `source <(workcell completion bash)` to ~/.bashrc, `source <(workcell completion zsh)` to ' +
    '~/.zshrc after compinit, or run `workcell completion fish > ~/.config/fish/completions/workcell.fish` once.',
  options: {},
  examples: ['workcell completion bash'],
  minWords: 1,
  maxWords: 1,

  async run({ words: [shell] }) {
    const known = Object.keys(SCRIPTS);
    if (!isShell(shell!)) {
      throw new UsageError(`no completion for "${shell}"${didYouMean(shell!, known)}; there is: ${known.join(', ')}`);
    }
    // Loaded here: the list of commands has this one in it.
    const { allCommands } = await import('../commands/index.ts');
    process.stdout.write(SCRIPTS[shell](commandNodes(await allCommands())));
    return EXIT.ok;
  },
};

function isShell(word: string): word is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, word);
}
