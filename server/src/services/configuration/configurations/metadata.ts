// Metadata of configurations, and the search over it.

import { PlatformError } from '../../../kit/errors.ts'
import { addressOf, type Caller, existing, mayUse, usableComponent } from './access.ts'
import { createRecordChange, metadataDeletedEvent, metadataSetEvent } from './change-events.ts'
import type { ConfigurationsDeps } from './configurations.ts'
import { findConfiguration, lockConfiguration } from './records/configurations.store.ts'
import {
  deleteMetadata,
  type FoundConfiguration,
  listMetadata,
  searchConfigurations,
  setMetadata,
} from './records/metadata.store.ts'
import type { MetadataItem } from './records/records.ts'

export interface NewMetadata {
  readonly key: string
  readonly value: string
}

export interface ConfigurationMetadata {
  list(caller: Caller, componentId: string, configurationId: string): Promise<readonly MetadataItem[]>
  /** Answers all items of the configuration. */
  set(
    caller: Caller,
    componentId: string,
    configurationId: string,
    items: readonly NewMetadata[],
  ): Promise<readonly MetadataItem[]>
  remove(caller: Caller, componentId: string, configurationId: string, metadataId: number): Promise<void>
  search(
    caller: Caller,
    wanted: {
      readonly componentId?: string | undefined
      readonly configurationId?: string | undefined
      readonly keys: readonly string[]
    },
  ): Promise<readonly FoundConfiguration[]>
}

export function createConfigurationMetadata({
  db,
  inTransaction,
  components,
  recordEvent,
  clock,
}: ConfigurationsDeps): ConfigurationMetadata {
  const recordChange = createRecordChange(recordEvent)

  const list: ConfigurationMetadata['list'] = async (caller, componentId, configurationId) => {
    const component = usableComponent(components, caller.actor, componentId)
    const owner = existing(await findConfiguration(db, addressOf(caller, component, configurationId)), configurationId)
    return await listMetadata(db, owner.projectId, owner.ownerId)
  }

  const set: ConfigurationMetadata['set'] = async (caller, componentId, configurationId, items) => {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const owner = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      await setMetadata(trx, owner.projectId, owner.ownerId, items, clock.now().getTime())
      await recordChange(trx, caller, metadataSetEvent(owner, items))
      return await listMetadata(trx, owner.projectId, owner.ownerId)
    })
  }

  const remove: ConfigurationMetadata['remove'] = async (caller, componentId, configurationId, metadataId) => {
    const component = usableComponent(components, caller.actor, componentId)
    if (!caller.branch.isDefault) {
      throw new PlatformError('notImplemented', {}, { text: 'Delete metadata is not implemented for development branch' })
    }
    await inTransaction(async (trx) => {
      const owner = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      const key = await deleteMetadata(trx, owner.projectId, owner.ownerId, metadataId)
      if (key === undefined)
        throw new PlatformError(
          'storage.metadata.notFound',
          { id: metadataId },
          {
            text: `Metadata with id "${metadataId}" not found for "${componentId}" configuration "${configurationId}" in branch "${caller.branch.id}"`,
          },
        )
      await recordChange(trx, caller, metadataDeletedEvent(owner, metadataId, key))
    })
  }

  const search: ConfigurationMetadata['search'] = async (caller, { componentId, configurationId, keys }) => {
    const found = await searchConfigurations(db, {
      projectId: caller.actor.projectId,
      branchId: caller.branch.id,
      componentId: componentId === undefined ? undefined : components.canonicalId(componentId),
      configurationId,
      keys,
    })
    return found.filter((configuration) => mayUse(components, caller.actor, configuration.componentId))
  }

  return { list, set, remove, search }
}
