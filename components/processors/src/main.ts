#!/usr/bin/env node
// One program for all processors: `main.ts <name>`, or the name in KBC_COMPONENTID. Reads `in/`, writes `out/`, ends.

import { join } from 'node:path'
import { untilJob } from '../../../contract/started-ahead.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { openFolder } from './folder.ts'
import { PROCESSORS } from './registry.ts'

untilJob()

const name = (process.argv[2] ?? process.env.KBC_COMPONENTID ?? '').replace(/^.*processor-/, '')

try {
  const processor = PROCESSORS[name]
  if (!processor) throw new UserError(`Processor "${name}" does not exist. Known: ${Object.keys(PROCESSORS).join(', ')}.`)
  await processor(await openFolder(join(process.env.KBC_DATADIR ?? '/data')))
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = error instanceof UserError ? 1 : 2
}
