#!/usr/bin/env node
// Runs a dbt project (platform.dbt). KBC_DATADIR names the data folder; in/dbt/plan.json, which the server wrote, describes what to run.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else. The artefacts of dbt are in out/dbt, whatever the end.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createLog } from '../../http-extractor/src/log.ts'
import { createRedactor } from '../../http-extractor/src/redaction.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { runChild } from '../../program-connector/src/child.ts'
import { lockedBefore, openEnvironment } from '../../program-connector/src/environment.ts'
import { runMain } from '../../program-connector/src/run-main.ts'
import { failureIn } from './outcome.ts'
import type { Plan } from './plan.ts'
import { unpackZip } from './unpack.ts'

const redactor = createRedactor()
const log = createLog({ debug: false, redactor, write: (text) => void process.stdout.write(text) })
/** A model may take long; dbt prints nothing while the database works. The time of the job is the limit. */
const SILENCE_MS = 86_400_000
const MAX_ERROR = 1000
/** The last error that dbt printed; of a project that cannot be read there are no results. */
let lastError = ''
const PACKAGE_FILES = ['packages.yml', 'dependencies.yml']

async function main(): Promise<void> {
  const data = process.env.KBC_DATADIR ?? '/data'
  const place = join(data, 'in', 'dbt')
  const plan = readJson(join(place, 'plan.json')) as Plan // written by the server
  for (const secret of plan.secrets) redactor.add(secret)
  const project = projectOf(place, plan)
  const profiles = join(process.env.TMPDIR ?? data, 'profiles')
  mkdirSync(profiles, { recursive: true, mode: 0o700 })
  writeFileSync(join(profiles, 'profiles.yml'), plan.profiles) // JSON is YAML
  const before = existsSync(join(data, 'in', 'state.json')) ? readJson(join(data, 'in', 'state.json')) : {}
  const kept = (before as { readonly environment?: unknown }).environment
  const environment =
    plan.packages.length === 0
      ? undefined
      : await openEnvironment(
          process.env.MILLRACE_ENVIRONMENTS_DIR ?? join(process.env.TMPDIR ?? data, 'environments'),
          plan.packages,
          lockedBefore(kept, plan.packages),
          (message) => log.info(message),
        )
  const out = join(data, 'out', 'dbt')
  mkdirSync(out, { recursive: true })
  const dbt = (args: readonly string[]) =>
    runChild({
      command: [
        ...plan.program,
        ...['--no-use-colors', '--log-format', 'json', '--log-path', out, '--no-version-check', ...args],
        ...['--project-dir', project, '--profiles-dir', profiles],
      ],
      cwd: project,
      silenceMs: SILENCE_MS,
      environment: {
        ...process.env,
        ...plan.environment,
        PATH: [environment?.bin, process.env.PATH].filter(Boolean).join(delimiter),
        DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
      },
      onLine: say,
      onError: (line) => log.warning(line),
    })
  const target = join(project, 'target')
  const keep = (names: readonly string[]) => {
    for (const name of names) if (existsSync(join(target, name))) copyFileSync(join(target, name), join(out, name))
  }
  // What a project brings along is of another run.
  rmSync(target, { recursive: true, force: true })
  if (needsPackages(project)) await dbt(plan.deps)
  try {
    for (const command of plan.commands) await dbt(command)
  } catch (error) {
    const failure = existsSync(join(target, 'run_results.json')) && failureIn(readJson(join(target, 'run_results.json')))
    if (failure) throw new ConnectorError(failure, error)
    throw lastError === '' ? error : new ConnectorError(`dbt failed: ${lastError}`, error)
  } finally {
    keep(['manifest.json', 'run_results.json'])
  }
  if (plan.docs) {
    await dbt(plan.docs)
    keep(['catalog.json'])
  }
  const state = { ...plan.state, ...(environment && { environment: { packages: plan.packages, locked: environment.locked } }) }
  writeFileSync(join(data, 'out', 'state.json'), JSON.stringify(state))
}

/** Where dbt_project.yml is. */
function projectOf(place: string, { archive, folder }: Plan): string {
  const whole = join(place, 'project')
  mkdirSync(whole, { recursive: true })
  if (archive !== undefined) unpackZip(join(place, archive), whole)
  // Archives of repositories hold one folder that everything else is in.
  const names = readdirSync(whole)
  const [only = ''] = names
  const top = folder === '' && names.length === 1 && existsSync(join(whole, only, 'dbt_project.yml')) ? join(whole, only) : whole
  const project = join(top, folder)
  if (existsSync(join(project, 'dbt_project.yml'))) return project
  throw new ConnectorError(
    `The project has no file dbt_project.yml${folder === '' ? '' : ` in the folder ${folder}`}. Name the folder that has it in 'parameters.project.path'.`,
  )
}

const needsPackages = (project: string): boolean =>
  PACKAGE_FILES.some((name) => existsSync(join(project, name))) && !existsSync(join(project, 'dbt_packages'))

/** A line of `--log-format json`. */
function say(line: string): void {
  let message = line
  let level = 'info'
  try {
    const { info } = JSON.parse(line) as { readonly info?: { readonly msg?: unknown; readonly level?: unknown } }
    if (typeof info?.msg === 'string') message = info.msg
    if (typeof info?.level === 'string') level = info.level
  } catch {
    // a macro that prints
  }
  if (message.trim() === '' || level === 'debug') return
  if (level === 'error') {
    lastError = message.replace(/\s+/g, ' ').trim().slice(0, MAX_ERROR)
    log.error(message)
  } else if (level === 'warn') log.warning(message)
  else log.info(message)
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

await runMain(main, redactor)
