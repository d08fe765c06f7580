// What stands below the options of a command's help.

import type { Command } from 'commander'

export const withExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`)
