// millrace completion: words for bash, zsh and fish, made from the commands themselves.

import { Argument, type Command } from 'commander'

interface Place {
  /** Names of the commands that lead here, each after a slash; empty for millrace itself. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell: source <(millrace completion bash)')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](placesOf(program)))
    })
}

function placesOf(command: Command, path = ''): Place[] {
  const { visibleCommands, visibleOptions } = visibleOf(command)
  const words = [
    ...visibleCommands.map((one) => ({ word: one.name(), description: firstLine(one.description()) })),
    ...visibleOptions.flatMap(({ long, description }) => (long ? [{ word: long, description: firstLine(description) }] : [])),
  ]
  const below = visibleCommands.filter((one) => one.name() !== 'help')
  return [{ path, words }, ...below.flatMap((one) => placesOf(one, `${path}/${one.name()}`))]
}

const visibleOf = (command: Command) => {
  const help = command.createHelp()
  return { visibleCommands: help.visibleCommands(command), visibleOptions: help.visibleOptions(command) }
}

const firstLine = (text: string): string => text.split('\n')[0]!

/** In single quotes, for every shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** `$path` becomes the place that the words before the cursor lead to; the rest of them are arguments and options. */
const walk = (places: readonly Place[]): string =>
  `    case "$path/$word" in
      ${places.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' | ')}) path="$path/$word" ;;
    esac`

const choose = (places: readonly Place[]): string =>
  `  case "$path" in
${places.map(({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
  esac`

const bash = (places: readonly Place[]): string => `# bash completion of millrace: source <(millrace completion bash)
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${walk(places)}
  done
${choose(places)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _millrace millrace
`

const zsh = (places: readonly Place[]): string => `#compdef millrace
# zsh completion of millrace: source <(millrace completion zsh)
_millrace() {
  local path="" words_here="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
${walk(places)}
  done
${choose(places).replaceAll(' words=', ' words_here=')}
  compadd -- \${=words_here}
  _files
}
compdef _millrace millrace
`

const fish = (places: readonly Place[]): string => `# fish completion of millrace: millrace completion fish | source
function __millrace_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path/$word"
      case ${places.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' ')}
        set path "$path/$word"
    end
  end
  test "$path" = "$argv[1]"
end
${places.flatMap(({ path, words }) => words.map(({ word, description }) => fishWord(path, word, description))).join('\n')}
`

const fishWord = (path: string, word: string, description: string): string => {
  const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`
  return `complete -c millrace -n "__millrace_at ${quoted(path)}" ${what} -d ${quoted(description)}`
}

const SCRIPTS = { bash, zsh, fish }
