// Every error of a job says which job and which page it was.

import { type ErrorContext, UserError } from '../errors.ts'
import { TablesError } from '../tables/tables-error.ts'

export function withJobContext<T>(context: ErrorContext, work: () => T): T {
  const named = (error: unknown): unknown => {
    if (error instanceof TablesError) return new UserError(error.message, context, error)
    if (error instanceof UserError) error.addContext(context)
    return error
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
