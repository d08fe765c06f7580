#!/usr/bin/env node
// Files of a folder become tables or files of the project, or the other way round; KBC_COMPONENTID decides which.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untilJob } from '../../../contract/started-ahead.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { readFolder } from './read.ts'
import { writeFolder } from './write.ts'

untilJob()

const PROGRAMS = { 'millrace.ex-folder': readFolder, 'millrace.wr-folder': writeFolder } as const

try {
  const id = process.env.KBC_COMPONENTID ?? ''
  const program = Object.hasOwn(PROGRAMS, id) ? PROGRAMS[id as keyof typeof PROGRAMS] : undefined // just looked up
  if (!program) throw new UserError(`No program exists for the component "${id}". Known: ${Object.keys(PROGRAMS).join(', ')}.`)
  const dataDir = process.env.KBC_DATADIR ?? '/data'
  const config = JSON.parse(await readFile(join(dataDir, 'config.json'), 'utf8')) as { parameters?: unknown }
  await program(dataDir, config.parameters ?? {})
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = error instanceof UserError ? 1 : 2
}
