// Every error of a job names the job and the page.

import type { FailureFacts } from '../../../../contract/failure-causes.ts'
import { type ErrorContext, UserError } from '../errors.ts'
import { pointerOf } from '../failure.ts'
import { TablesError } from '../tables/tables-error.ts'

/** Where the job stands in the configuration, and what it had come to. */
export interface JobContext extends ErrorContext {
  readonly job: string
  readonly endpoint: string
  readonly page?: number
}

export function withJobContext<T>(path: string, context: JobContext, work: () => T): T {
  const named = (error: unknown): unknown => {
    if (error instanceof TablesError) return new UserError(error.message, context, error).withFacts(factsOf(path, context))
    if (!(error instanceof UserError)) return error
    error.addContext(context)
    return error.withFacts(factsOf(path, context))
  }
  try {
    const result = work()
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw named(error)
    }) as T // a promise of the same value
  } catch (error) {
    throw named(error)
  }
}

const factsOf = (path: string, { endpoint, page }: JobContext): FailureFacts => ({
  pointer: pointerOf(path),
  request: { endpoint, ...(page === undefined ? {} : { page }) },
})
