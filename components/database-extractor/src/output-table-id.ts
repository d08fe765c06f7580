// Which table of the project a row writes.

import type { Fields } from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { RowSettings } from './configuration.ts'

interface Mapped {
  readonly output?: {
    readonly default_bucket?: string
    readonly tables?: readonly { readonly source: string; readonly destination: string }[]
  }
}

/** As the platform finds it: the mapping, the default bucket of the mapping, or that of the configuration. */
export function outputTableId(
  { outputTable }: RowSettings,
  file: Fields,
  { KBC_CONFIGID, KBC_COMPONENTID }: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { output } = (file.storage ?? {}) as Mapped // written by the platform
  const mapped = output?.tables?.find(({ source }) => source === `${outputTable}.csv`)
  if (mapped) return mapped.destination
  if (output?.default_bucket) return `${output.default_bucket}.${outputTable}`
  return KBC_CONFIGID ? `in.c-${KBC_COMPONENTID?.replaceAll('.', '-')}-${KBC_CONFIGID}.${outputTable}` : undefined
}

export function verifiedTable(row: RowSettings, file: Fields, environment: Readonly<Record<string, string | undefined>>): string {
  const { output } = (file.storage ?? {}) as Mapped // written by the platform
  if ((output?.tables?.length ?? 0) > 0)
    throw new UserError(
      'A row that verifies has no output mapping. Remove storage.output.tables and name the table in verifyTable.',
    )
  const id = row.verifyTable ?? outputTableId(row, file, environment)
  if (id === undefined)
    throw new UserError('verifyTable is missing: the table of the project to compare, such as in.c-main.orders.')
  return id
}
