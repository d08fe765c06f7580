// Who may touch which configuration, and where it is.

import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, canUseComponent, creatorTokenOf } from '../../../model/actor.ts'
import { type ComponentProblems, componentMissing } from '../../../model/component-missing.ts'
import type { Origin } from '../../../model/event.ts'
import type { Address, ConfigurationRecord, Stamp } from './records/records.ts'

/** One request as the rules see it. */
export interface Caller {
  readonly actor: Actor
  readonly branch: { readonly id: number; readonly isDefault: boolean }
  readonly origin: Origin
}

/** What this module needs of components. */
export interface ComponentLookup extends ComponentProblems {
  find(id: string): { readonly id: string; readonly type: string } | undefined
  canonicalId(id: string): string
  listedId(id: string): string
}

/** The component's own id; refuses unknown components and those the token has no access to. */
export function usableComponent(components: ComponentLookup, actor: Actor, componentId: string): string {
  const component = components.find(componentId)
  if (!component) throw componentMissing(components, componentId)
  if (!mayUse(components, actor, component.id)) throw new PlatformError('accessDenied')
  return component.id
}

/** A token may name a component by an alias. */
export const mayUse = (components: ComponentLookup, actor: Actor, componentId: string): boolean =>
  canUseComponent(actor, componentId, components.canonicalId)

export const addressOf = (caller: Caller, componentId: string, configurationId: string): Address => ({
  projectId: caller.actor.projectId,
  branchId: caller.branch.id,
  componentId,
  configurationId,
})

export function existing(record: ConfigurationRecord | undefined, configurationId: string): ConfigurationRecord {
  if (!record || record.isDeleted) throw configurationNotFound(configurationId)
  return record
}

export const configurationNotFound = (id: string) => new PlatformError('storage.configuration.notFound', { id: id.slice(0, 255) })

/** Clients compare this text, and the code is shared with other records. */
export function rowNotFound(id: string): PlatformError {
  const error = new PlatformError('notFound', { what: `Row ${id.slice(0, 255)}` })
  error.message = `Row ${id.slice(0, 255)} not found`
  return error
}

export const versionNotFound = (version: number | string) =>
  new PlatformError('storage.configuration.versionNotFound', { version })

/** The version a client expects to change; undefined: whichever there is. */
export type ExpectedVersion = number | undefined

export function checkVersion(expected: ExpectedVersion, actual: number, what: string): void {
  if (expected !== undefined && expected !== actual) {
    throw new PlatformError('storage.components.configurations.versionConflict', { what, actual, expected })
  }
}

export const stampOf = (actor: Actor, at: number): Stamp => {
  const { id, description } = creatorTokenOf(actor)
  return { at, tokenId: id, tokenDescription: description }
}
