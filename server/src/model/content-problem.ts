// What is wrong with a configuration before it is saved or run, each with its path; reported by the modules that own the rules.

export interface ContentProblem {
  /** A warning keeps it neither from being saved nor from being run. */
  readonly level: 'error' | 'warning'
  /** Of the value, from the root of the configuration (RFC 6901). */
  readonly pointer: string
  readonly message: string
  /** The module that reports it. */
  readonly rule: 'json' | 'schema' | 'mapping' | 'flow' | 'schedule'
}

/** `phases[0].next[1].goto` as a pointer. */
export const pointerOf = (path: string): string =>
  path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => `/${escaped(part)}`)
    .join('')

export const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1')
