import { counted, wasOrWere } from '../../../contract/counted.ts'

// What the results of a run of dbt mean, as a sentence.

interface Result {
  readonly unique_id?: unknown
  readonly status?: unknown
  readonly message?: unknown
}

const FAILED = ['error', 'fail', 'runtime error']
const MAX_NAMED = 5
const MAX_MESSAGE = 300

/** Undefined: the results name nothing that failed. */
export function failureIn(runResults: unknown): string | undefined {
  const { results } = (runResults ?? {}) as { readonly results?: readonly Result[] } // of dbt; each member is looked at
  if (!Array.isArray(results)) return undefined
  const failed = results.filter(({ status }) => FAILED.includes(String(status)))
  if (failed.length === 0) return undefined
  const skipped = results.filter(({ status }) => status === 'skipped').length
  const named = failed
    .slice(0, MAX_NAMED)
    .map(({ unique_id, message }) => `${String(unique_id)}: ${oneLine(message).replace(/\.$/, '') || 'it failed'}.`)
  const more = failed.length > MAX_NAMED ? ` And ${failed.length - MAX_NAMED} more.` : ''
  const left = skipped > 0 ? `, and ${skipped} ${wasOrWere(skipped)} skipped` : ''
  return `${failed.length} of ${counted(results.length, 'node')} failed${left}. ${named.join(' ')}${more}`
}

const oneLine = (message: unknown): string =>
  String(message ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_MESSAGE)
