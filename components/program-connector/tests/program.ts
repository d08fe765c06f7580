// The connector as a process over a data folder of the test.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const MAIN = new URL('../src/main.ts', import.meta.url).pathname

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Folder {
  readonly root: string
  /** Runs the program; the state of the run before is given to it. */
  run(parameters: object, options?: { readonly component?: string; readonly action?: string }): Promise<Outcome>
  table(name: string): { readonly rows: string[]; readonly manifest: TableManifest }
  state(): Record<string, unknown>
  has(path: string): boolean
}

interface TableManifest {
  readonly incremental: boolean
  readonly deleted_rows_column?: string
  readonly schema: readonly {
    readonly name: string
    readonly primary_key?: boolean
    readonly data_type: { readonly base: { readonly type: string } }
  }[]
}

export function dataFolder(t: TestContext): Folder {
  const root = mkdtempSync(join(tmpdir(), 'millrace-programs-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const data = join(root, 'data')
  mkdirSync(join(data, 'in', 'tables'), { recursive: true })
  mkdirSync(join(root, 'tmp'))

  async function run(
    parameters: object,
    { component = 'platform.singer', action }: { component?: string; action?: string } = {},
  ) {
    const last = join(data, 'out', 'state.json')
    if (existsSync(last)) writeFileSync(join(data, 'in', 'state.json'), readFileSync(last))
    rmSync(join(data, 'out'), { recursive: true, force: true })
    writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters, ...(action && { action }) }))
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env.PATH, KBC_DATADIR: data, KBC_COMPONENTID: component, TMPDIR: join(root, 'tmp') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, stdout, stderr }
  }

  return {
    root: data,
    run,
    table: (name) => ({
      rows: readFileSync(join(data, 'out', 'tables', `${name}.csv`), 'utf8')
        .split('\n')
        .filter(Boolean),
      manifest: JSON.parse(readFileSync(join(data, 'out', 'tables', `${name}.csv.manifest`), 'utf8')) as TableManifest, // written by the program
    }),
    state: () => JSON.parse(readFileSync(join(data, 'out', 'state.json'), 'utf8')) as Record<string, unknown>, // written by the program
    has: (path) => existsSync(join(data, path)),
  }
}
