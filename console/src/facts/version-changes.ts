// What differs between two versions of a configuration.

import { type Change, changesBetween } from '../document/changes.ts'
import { isBelowSecret } from '../document/json-text.ts'
import { useLoad } from '../load.tsx'
import type { ConfigurationPlace } from './use-configuration.ts'

interface Version {
  readonly configuration: unknown
  readonly rows?: readonly { readonly id: string; readonly name: string; readonly configuration: unknown }[]
}

const documentOf = ({ configuration, rows = [] }: Version) => ({
  ...Object.fromEntries(rows.map((row) => [row.name || row.id, row.configuration])),
  configuration,
})

/** A value as one line; secrets stay six dots. */
export const shown = (path: Change['path'], value: unknown): string =>
  isBelowSecret(path) ? '••••••' : (JSON.stringify(value) ?? '')

/** What differs between two versions, rows by their names; undefined while it is not known. */
export function useVersionChanges(
  place: ConfigurationPlace,
  from: string | undefined,
  to: string | undefined,
): readonly Change[] | undefined {
  const versions = from && to && from !== to ? { from, to } : undefined
  const before = useLoad('configurations.version', versions && { path: { ...place, versionId: versions.from } })
  const after = useLoad('configurations.version', versions && { path: { ...place, versionId: versions.to } })
  if (!versions) return []
  if (before.error || after.error) return []
  if (!before.data || !after.data) return undefined
  return changesBetween(documentOf(before.data as unknown as Version), documentOf(after.data as unknown as Version)) // described loosely
}
