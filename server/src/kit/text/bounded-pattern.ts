// Regular expressions from users: some take too long, so they get a short time limit.

import { createContext, Script } from 'node:vm'

/** A sound pattern needs a thousandth of the first; the second is for a machine that had no time just then. */
const MOMENTS_MS = [100, 400]
const CONTEXT = createContext(Object.create(null))
const TEST = new Script(`new RegExp(pattern, 'u').test(value)`)

/** Why a text is not a pattern; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    new RegExp(wholeText(pattern), 'u')
    return undefined
  } catch (error) {
    return (error as Error).message // of the constructor
  }
}

/** Whether the whole value matches; undefined when that could not be found out in time. */
export function matchesPattern(pattern: string, value: string): boolean | undefined {
  CONTEXT.pattern = wholeText(pattern)
  CONTEXT.value = value
  for (const timeout of MOMENTS_MS) {
    try {
      return TEST.runInContext(CONTEXT, { timeout }) as boolean // of `test`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    }
  }
  return undefined
}

const wholeText = (pattern: string): string => `^(?:${pattern.replace(/^\^|\$$/g, '')})$`
