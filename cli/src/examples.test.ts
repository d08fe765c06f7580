import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from './commands.ts'
import { commandOf, EXAMPLES } from './examples.ts'

const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)]
const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name())

/** The words of a line as a shell reads them, without redirections. */
const wordsOf = (line: string): string[] =>
  Array.from(line.replace(/ [<>] \S+$/, '').matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g), ([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )

/** The program with its parsers, and without its actions: the command that was parsed, or what is wrong. */
async function parse(line: string): Promise<string> {
  const program = createProgram()
  let parsed = 'nothing'
  for (const command of allOf(program)) {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
    if (command.commands.length === 0)
      command.action(() => {
        parsed = pathOf(command)
      })
  }
  await program.parseAsync(wordsOf(line).slice(1), { from: 'user' })
  return parsed
}

test('the help of every command has an example', () => {
  const program = createProgram()
  for (const command of allOf(program)) {
    let help = ''
    command.configureOutput({ writeOut: (text) => { help += text } }).outputHelp() // biome-ignore format: one thought
    assert.match(help, new RegExp(`Examples:\\n(.*\\n)*? {2}${pathOf(command)}`), pathOf(command))
  }
  for (const line of EXAMPLES) assert.notEqual(commandOf(program, line), program, line)
})

test('every example is one that its command accepts', async () => {
  for (const line of EXAMPLES) {
    const parsed = await parse(line).catch((error: Error) => error.message)
    assert.equal(parsed, pathOf(commandOf(createProgram(), line)), line)
  }
  await assert.rejects(parse('millrace table list --no-such-option'), /unknown option/)
  await assert.rejects(parse('millrace table show'), /missing required argument/)
})
