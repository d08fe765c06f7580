// What the runner has against a configuration before it runs; and what it names that is not there, which may still come.

import type { ContentProblem } from '../../../model/content-problem.ts'
import type { Scope } from '../../../model/scope.ts'
import { mappingProblems, namesIn } from './mapping/mapping-problems.ts'

export interface RunRuleDeps {
  readonly tableExists: (scope: Scope, tableId: string) => Promise<boolean>
  readonly componentExists: (componentId: string) => boolean
}

/** More than these are not looked up. */
const MAX_TABLES = 1000

export function createRunRule({ tableExists, componentExists }: RunRuleDeps) {
  return async (scope: Scope, content: Readonly<Record<string, unknown>>): Promise<readonly ContentProblem[]> => {
    const { tables, components } = namesIn(content)
    const missing: ContentProblem[] = []
    for (const { id, pointer } of tables.slice(0, MAX_TABLES))
      if (!(await tableExists(scope, id)))
        missing.push(warning(pointer, `Table "${id.slice(0, 200)}" does not exist, or this token cannot read it.`))
    for (const { id, pointer } of components)
      if (!componentExists(id)) missing.push(warning(pointer, `Component "${id.slice(0, 200)}" does not exist on this stack.`))
    return [...mappingProblems(content), ...missing]
  }
}

const warning = (pointer: string, message: string): ContentProblem => ({ level: 'warning', pointer, message, rule: 'mapping' })
