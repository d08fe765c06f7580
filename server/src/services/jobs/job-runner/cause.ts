// The cause of a failed run: the code that noticed the failure has reported its details (`facts`); the rest follows from the error's code and
// from the part of the run in which it came.

import { Type } from 'typebox'
import { Value } from 'typebox/value'
import {
  type CauseKind,
  FAILURE_FILE,
  type FailureFacts,
  isCauseKind,
  jsonPointer,
} from '../../../../../contract/failure-causes.ts'
import { type DataFolder, readOutput } from '../../../engines/runner/data-folder.ts'
import { type Mask, maskValue } from '../../../engines/runner/mask.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { CAUSE_OF_CODE, type CausePlace, type JobCause, jobCause, type SinceLastGood } from '../../../model/job-cause.ts'
import type { StoredConfiguration } from '../../../model/run-ports.ts'
import type { RowAccount } from './row-account.ts'

const BY_PHASE = { input: 'input.missing', program: 'run.componentFailed', load: 'load.refused' } as const

export interface FailedRun {
  readonly error: unknown
  /** Its node was stopped. */
  readonly wasStopped: boolean
  readonly account: RowAccount | undefined
  readonly stored: StoredConfiguration | undefined
  readonly since: SinceLastGood | null
  readonly mask: Mask
  /** The sentence of the job, masked. */
  readonly message: string
}

export function causeOf({ error, wasStopped, account, stored, since, mask, message }: FailedRun): JobCause {
  if (wasStopped) return jobCause('run.workerLost', 'internalError', { since })
  if (!(error instanceof PlatformError)) return jobCause('run.internal', 'internalError', { since })
  const facts = maskValue({ ...error.facts }, mask) as FailureFacts // the same object, its texts masked
  const { request, place, advice, kind = kindOf(error, account) } = facts
  const subject = facts.subject ?? (kind === 'run.componentFailed' ? shapeOf(message) : undefined)
  return jobCause(kind, error.code, {
    since,
    where: whereOf(facts, account, stored),
    ...(subject !== undefined && { subject }),
    ...(request && { request }),
    ...(place && { place }),
    ...(advice !== undefined && { advice }),
  })
}

/** Messages of one shape are one cause: `row 17 is wrong`, `row 4 is wrong`. */
const shapeOf = (message: string): string => (message.split('\n', 1)[0] ?? '').replace(/[0-9a-f]{16,}|\d+/gi, '#').slice(0, 160)

function kindOf({ code, kind }: PlatformError, account: RowAccount | undefined): CauseKind {
  const known = CAUSE_OF_CODE[code]
  if (known) return known
  if (kind === 'bug' || kind === 'transient') return 'run.internal'
  const phase = account?.phases.at(-1)
  return phase ? BY_PHASE[phase.name] : 'configuration.invalid'
}

function whereOf(
  { pointer, place }: FailureFacts,
  account: RowAccount | undefined,
  stored: StoredConfiguration | undefined,
): CausePlace | null {
  const rowId = account?.rowId ?? null
  const row = stored?.rows.find(({ id }) => id === rowId)
  const texts = [...(row ? [row.configuration] : []), ...(stored ? [stored.configuration] : [])]
  const found = pointer ?? texts.map((text) => outputPointer(text, place?.table)).find((one) => one !== undefined)
  if (found === undefined) return null
  const isInRow = row !== undefined && reach(row.configuration, found) >= reach(stored?.configuration ?? '{}', found)
  return { pointer: found, in: isInRow ? 'row' : 'configuration', rowId }
}

/** The entry of the output mapping that a table was written by. */
function outputPointer(text: string, table: string | undefined): string | undefined {
  if (table === undefined) return undefined
  const { storage } = JSON.parse(text) as { storage?: { output?: { tables?: unknown } } } // of a configuration that was run
  const tables = storage?.output?.tables
  const at = Array.isArray(tables) ? tables.findIndex((one) => one?.destination === table) : -1
  return at < 0 ? undefined : jsonPointer(['storage', 'output', 'tables', at])
}

/** How many steps of a pointer a configuration has. */
function reach(text: string, pointer: string): number {
  let value: unknown = JSON.parse(text)
  const parts = pointer.split('/').slice(1)
  for (const [steps, part] of parts.entries()) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return steps
    value = (value as Record<string, unknown>)[key]
  }
  return parts.length
}

const Text = Type.Optional(Type.String({ maxLength: 4_000 }))
const Whole = Type.Optional(Type.Integer())
const Facts = Type.Object({
  kind: Text,
  subject: Text,
  pointer: Text,
  advice: Text,
  request: Type.Optional(Type.Object({ method: Text, url: Text, status: Whole, endpoint: Text, page: Whole })),
  place: Type.Optional(Type.Object({ table: Text, file: Text, line: Whole, column: Text })),
})
const FACTS_BYTES = 64 << 10

/** What a component has left about its failure; one that wrote something else has only its last words. */
export async function readFailure(folder: DataFolder): Promise<FailureFacts> {
  try {
    const text = await readOutput(folder, FAILURE_FILE, FACTS_BYTES)
    const given: unknown = text === undefined ? {} : JSON.parse(text)
    if (!Value.Check(Facts, given)) return {}
    const { kind, ...facts } = Value.Clean(Facts, given) as FailureFacts & { readonly kind?: string } // just checked
    return { ...facts, ...(kind !== undefined && isCauseKind(kind) && { kind }) }
  } catch {
    return {}
  }
}
