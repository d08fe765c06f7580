// The step of a row that is a task for sandboxes (spec platform 6.4): it has no program, no input and no output.

import { type Static, Type } from 'typebox'
import { given } from '../../../kit/defined.ts'
import { membersOf } from '../../../kit/text/json-text.ts'
import type { RunSandboxes, RunScope } from '../../../model/run-ports.ts'
import { read } from './mapping/mapping.ts'

const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Task = Type.Object({
  task: optional(Type.Union([Type.Literal('create'), Type.Literal('delete')])),
  type: optional(Type.String()),
  size: optional(Type.String()),
  shared: optional(Type.Boolean()),
  expirationAfterHours: optional(Type.Integer({ minimum: 0, maximum: 24 * 365 })),
  id: optional(Type.Union([Type.String(), Type.Integer()])),
})

export interface SandboxStep {
  readonly scope: RunScope
  readonly configurationId: string | null
  /** Text of config.json. */
  readonly configFile: string
  say(text: string): void
}

export async function runSandboxStep(sandboxes: RunSandboxes, step: SandboxStep): Promise<void> {
  const { scope, configurationId, configFile, say } = step
  const parameters: unknown = JSON.parse(membersOf(configFile).get('parameters') ?? '{}')
  const wanted: Static<typeof Task> = read(Task, parameters, 'parameters')
  if (wanted.task === 'delete') {
    const id = String(wanted.id ?? '')
    await sandboxes.remove(scope, id)
    say(`Sandbox ${id} is deleted.`)
    return
  }
  const { type, size, shared, expirationAfterHours } = wanted
  const id = await sandboxes.create(scope, configurationId, {
    type: type ?? 'sql',
    ...(size && { size }),
    ...given({ shared, expirationAfterHours }),
  })
  say(`Sandbox ${id} is ready.`)
}
