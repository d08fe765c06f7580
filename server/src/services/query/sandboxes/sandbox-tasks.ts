// Sandboxes that jobs of the component make and delete (spec platform 6.4). The id is kept in the configuration, where clients look for it.

import { membersOf, withMember } from '../../../kit/text/json-text.ts'
import type { RunSandboxes, RunScope } from '../../../model/run-ports.ts'
import type { Sandboxes } from './sandboxes.ts'

export const SANDBOX_COMPONENT = 'keboola.sandboxes'

export interface SandboxTasksDeps {
  readonly sandboxes: Pick<Sandboxes, 'create' | 'remove' | 'list'>
  /** JSON text; undefined when the configuration is gone. */
  readonly readConfiguration: (scope: RunScope, configurationId: string) => Promise<string | undefined>
  readonly saveConfiguration: (
    scope: RunScope,
    configurationId: string,
    change: { readonly configuration: { readonly text: string; readonly value: unknown }; readonly changeDescription: string },
  ) => Promise<void>
}

export function createSandboxTasks({ sandboxes, readConfiguration, saveConfiguration }: SandboxTasksDeps): RunSandboxes {
  const originOf = ({ runId }: RunScope) => ({ runId, remoteAddress: null, userAgent: null })

  /** A job that is run again after its node died finds what it has made. */
  async function ofConfiguration({ actor, branchId }: RunScope, configurationId: string | null): Promise<number | undefined> {
    if (configurationId === null) return undefined
    const all = await sandboxes.list(actor, 'sandbox')
    return all.find(
      (one) => one.component_id === SANDBOX_COMPONENT && one.configuration_id === configurationId && one.branch_id === branchId,
    )?.id
  }

  async function keepId(scope: RunScope, configurationId: string, id: string): Promise<void> {
    const text = await readConfiguration(scope, configurationId)
    if (text === undefined) return
    const parameters = withMember(membersOf(text).get('parameters') ?? '{}', 'id', JSON.stringify(id))
    const changed = withMember(text, 'parameters', parameters)
    await saveConfiguration(scope, configurationId, {
      configuration: { text: changed, value: JSON.parse(changed) as unknown },
      changeDescription: 'Sandbox created by a job',
    })
  }

  return {
    create: async (scope, configurationId, task) => {
      const known = await ofConfiguration(scope, configurationId)
      const branch = { id: scope.branchId, isDefault: scope.isDefaultBranch }
      const of = configurationId === null ? {} : { componentId: SANDBOX_COMPONENT, configurationId }
      const made =
        known ?? (await sandboxes.create({ actor: scope.actor, branch }, 'sandbox', { ...task, ...of }, originOf(scope))).id
      if (configurationId !== null) await keepId(scope, configurationId, String(made))
      return String(made)
    },
    remove: (scope, id) => sandboxes.remove(scope.actor, 'sandbox', id, originOf(scope)),
  }
}
