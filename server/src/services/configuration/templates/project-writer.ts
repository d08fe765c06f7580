// The parts of a project that a template writes, as the modules offer them that they belong to.

import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { ContentOf, ProjectWriter, StoredWhole, TemplateCaller } from './templates.ts'

interface Content {
  readonly name: string
  readonly description: string
  readonly isDisabled?: boolean
  readonly configuration: { readonly text: string; readonly value: unknown }
  readonly changeDescription: string
}

interface RowPlace {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string
}

export interface WriterDeps {
  readonly caller: TemplateCaller
  readonly configurations: {
    create(caller: TemplateCaller, componentId: string, content: Content & { readonly configurationId: string }): Promise<unknown>
    update(caller: TemplateCaller, componentId: string, configurationId: string, content: Content): Promise<unknown>
    remove(caller: TemplateCaller, componentId: string, configurationId: string): Promise<void>
  }
  readonly rows: {
    create(
      caller: TemplateCaller,
      componentId: string,
      configurationId: string,
      content: Content & { readonly rowId: string },
    ): Promise<unknown>
    update(caller: TemplateCaller, place: RowPlace, content: Content): Promise<unknown>
    remove(caller: TemplateCaller, place: RowPlace): Promise<void>
  }
  readonly runAccess: {
    find(place: {
      readonly projectId: number
      readonly branchId: number
      readonly componentId: string
      readonly configurationId: string
    }): Promise<StoredWhole | undefined>
  }
  readonly scheduler: {
    activate(actor: Actor, schedule: { readonly configurationId: string }, origin: Origin): Promise<unknown>
    removeByConfiguration(actor: Actor, configurationId: string, origin: Origin): Promise<void>
  }
}

export function projectWriter({ caller, configurations, rows, runAccess, scheduler }: WriterDeps): ProjectWriter {
  const { actor, branch, origin } = caller
  const inputOf = ({ configuration, ...rest }: ContentOf): Content => ({
    ...rest,
    configuration: { text: configuration, value: JSON.parse(configuration) as unknown },
  })
  return {
    find: (componentId, configurationId) =>
      runAccess.find({ projectId: actor.projectId, branchId: branch.id, componentId, configurationId }),
    create: async (componentId, configurationId, content) => {
      await configurations.create(caller, componentId, { configurationId, ...inputOf(content) })
    },
    update: async (componentId, configurationId, content) => {
      await configurations.update(caller, componentId, configurationId, inputOf(content))
    },
    remove: (componentId, configurationId) => configurations.remove(caller, componentId, configurationId),
    createRow: async (componentId, configurationId, rowId, content) => {
      await rows.create(caller, componentId, configurationId, { rowId, ...inputOf(content) })
    },
    updateRow: async (componentId, configurationId, rowId, content) => {
      await rows.update(caller, { componentId, configurationId, rowId }, inputOf(content))
    },
    removeRow: (componentId, configurationId, rowId) => rows.remove(caller, { componentId, configurationId, rowId }),
    activateSchedule: async (configurationId) => {
      await scheduler.activate(actor, { configurationId }, origin)
    },
    removeSchedule: (configurationId) =>
      scheduler.removeByConfiguration(actor, configurationId, origin).catch((error: unknown) => {
        if (!(error instanceof PlatformError && error.code === 'scheduler.notRegistered')) throw error
      }),
  }
}
