// The real millrace command in a process of its own, against a test stack or an empty data folder.

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { bundleOf } from '../../server/src/engines/runner/bundle.ts'
import { childEnvironment } from './child-environment.ts'

/** What main.ts would load, without checking every time whether the bundle is as new as the sources. */
const PROGRAM = fileURLToPath(bundleOf('cli') ?? new URL('../../cli/src/main.ts', import.meta.url))

/** The profiles of the developer are not those of a test. */
const NO_PROFILES = { XDG_CONFIG_HOME: join(tmpdir(), 'millrace-without-profiles') }

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly json: <T = Record<string, unknown>>() => T
}

export interface CliOptions {
  /** What it reads from standard input. */
  readonly input?: string
  readonly cwd?: string
}

export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = '', cwd }: CliOptions = {},
): Promise<CliResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...childEnvironment(), ...NO_PROFILES, ...env },
    ...(cwd && { cwd }),
  })
  child.stdin.end(input)
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { code, out, err, json: <T>() => JSON.parse(out) as T }
}
