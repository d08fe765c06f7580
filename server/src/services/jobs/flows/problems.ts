// What is wrong with the configuration of a flow: all of it at once, each with its place.

export interface Problem {
  /** A warning is reported and refuses nothing; what is unfinished is saved with a warning, and refuses a run. */
  readonly level: 'error' | 'unfinished' | 'warning'
  /** From the root of the configuration: `phases[0].next[1].goto`. */
  readonly path: string
  readonly message: string
}

/** Answers undefined, so that a reader can report and give up in one expression. */
export type Report = (level: Problem['level'], path: string, message: string) => undefined

export function createReport(problems: Problem[]): Report {
  return (level, path, message) => {
    problems.push({ level, path, message })
  }
}

const MAX_SHOWN = 20

export function problemsText(problems: readonly Problem[]): string {
  const shown = problems.slice(0, MAX_SHOWN).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = problems.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more.`] : [])].join(' ')
}
