// The commands of a document, run as they stand: every `sh` block, in order, in one shell, in an empty folder.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from './child-environment.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface CommandsRun {
  /** Where they ran; what they wrote is here until the test ends. */
  readonly folder: string
  /** What they printed. */
  readonly output: string
  /** How many ran, without the shell setup of the first block. */
  readonly commands: number
  readFile(name: string): Promise<string>
  readJson<T>(name: string): Promise<T>
}

/**
 * Fails the test with the output when a command fails. Unless another folder is given they run in one where `npx millrace` is the command
 * of this repository, and scripts of the document can import the AWS SDK.
 */
export async function runCommandsOf(
  t: TestContext,
  document: string,
  env: Readonly<Record<string, string>>,
  place?: string,
): Promise<CommandsRun> {
  const folder = place ?? (await walkFolder(t))
  const page = await readFile(join(ROOT, document), 'utf8')
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)
  assert.ok(blocks.length > 0, `${document} has no commands`)
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const shell = spawn('bash', ['-euxo', 'pipefail', '-c', `PS4='+ @$LINENO '; ${blocks.join('\n')}`], {
    cwd: folder,
    env: { ...childEnvironment(), PATH, MILLRACE_HOME: ROOT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: t.signal,
  })
  const [out, err, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')])
  assert.equal(code, 0, `${document}:\n${err.slice(-3000)}\n${out.slice(-1000)}`)
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const setupLines = blocks[0]!.split('\n').length
  const lines = new Set(Array.from(err.matchAll(/^\++ @(\d+) /gm), ([, line]) => Number(line)))
  const commands = [...lines].filter((line) => line > setupLines).length
  return { folder, output: out, commands, readFile: read, readJson: async <T>(name: string) => JSON.parse(await read(name)) as T }
}

async function walkFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-walk-'))
  t.after(() => rm(folder, { recursive: true }))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
