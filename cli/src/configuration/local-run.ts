// Runs a component that is a command on a data folder of this machine, with the environment that a stack would give it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { ComponentDescription } from '../../../contract/component.ts'
import { UserError } from '../output.ts'

export interface LocalOutcome {
  readonly tables: readonly string[]
  readonly files: readonly string[]
  readonly state: boolean
}

const FOLDERS = ['in/tables', 'in/files', 'out/tables', 'out/files']

/** Beside the description, as in the components folder of a stack, or around it, as in a repository. */
export function programFolder({ data }: ComponentDescription, file: string): string | undefined {
  const around = resolve(dirname(file))
  const beside = join(around, data.definition.uri)
  if (existsSync(beside)) return beside
  return basename(around) === basename(data.definition.uri) ? around : undefined
}

export async function runLocally(description: ComponentDescription, file: string, data: string): Promise<LocalOutcome> {
  const { definition } = description.data
  if (definition.type !== 'command')
    throw new UserError(`Only commands run without a stack; ${description.id} is of type ${definition.type}.`)
  const folder = programFolder(description, file)
  if (folder === undefined)
    throw new UserError(`The folder "${definition.uri}" does not exist beside ${file}, so there is nothing to run.`)
  if (!existsSync(join(data, 'config.json')))
    throw new UserError(
      `${data} has no config.json. A first one: {"parameters": {}}; see docs/components.md for the other fields.`,
    )
  for (const path of FOLDERS) await mkdir(join(data, path), { recursive: true })
  const scratch = await mkdtemp(join(tmpdir(), 'millrace-run-'))
  try {
    await run(definition.command ?? [], folder, environmentOf(description, resolve(data), scratch))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  const results = async (path: string) => (await readdir(join(data, path))).filter((name) => !name.endsWith('.manifest'))
  return {
    tables: await results('out/tables'),
    files: await results('out/files'),
    state: existsSync(join(data, 'out/state.json')),
  }
}

/** Nothing of this shell but PATH: what is missing here is missing on a stack, too. */
const environmentOf = ({ id }: ComponentDescription, data: string, scratch: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: scratch,
  TMPDIR: scratch,
  LANG: 'C.UTF-8',
  PYTHONUNBUFFERED: '1',
  KBC_DATADIR: `${data}/`,
  KBC_COMPONENTID: id,
  KBC_CONFIGID: 'local',
  KBC_RUNID: '1',
  KBC_PROJECTID: '1',
  KBC_BRANCHID: '1',
  KBC_STACKID: 'localhost',
})

async function run([command = '', ...args]: readonly string[], cwd: string, env: Record<string, string>): Promise<void> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  const code = await new Promise<number | null>((done, fail) => {
    child.once('exit', done)
    child.once('error', (error) => fail(new UserError(`${command} cannot be started: ${error.message}`)))
  })
  if (code === 1) throw new UserError('The component ended with 1: a stack would show what it printed on stderr as the reason.')
  if (code !== 0)
    throw new UserError(
      `The component ended with ${code ?? 'a signal'}: a stack would report an internal error of the component.`,
    )
}
