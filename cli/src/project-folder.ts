// A project as a folder: what `export-project` writes and `import-project` reads, and what both remember about how far they came.
//
//   project.json                              where it came from
//   buckets/<bucket>.json                     the bucket with its metadata and tables
//   tables/<table>.csv.gz                     rows without a header, columns as the bucket file says
//   configurations/<component>/<id>.json      the configuration with rows, metadata and versions
//   files/<id>, files/<id>.json               on request
//   subscriptions.json, variables.json
//   import-<project>.json                     what an import has done already
//   report.json                               what was moved, what was not, and why

import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Metadata {
  readonly key: string
  readonly value: string
  readonly provider: string
}

export interface MovedTable {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly primaryKey: readonly string[]
  readonly columns: readonly string[]
  readonly isAlias: boolean
  readonly isTyped: boolean
  readonly rowsCount: number | null
  readonly metadata: readonly Metadata[]
  readonly columnMetadata: Readonly<Record<string, readonly Metadata[]>> | readonly never[]
  readonly definition?: {
    readonly columns: readonly {
      readonly name: string
      readonly definition: object
      readonly basetype?: string
    }[]
  }
  readonly sourceTable?: { readonly id: string }
  readonly aliasColumnsAutoSync?: boolean
  readonly aliasFilter?: object
}

export interface MovedBucket {
  readonly id: string
  readonly stage: string
  readonly name: string
  readonly displayName: string
  readonly description: string | null
  readonly metadata: readonly Metadata[]
  readonly sourceBucket?: object
  readonly tables: readonly MovedTable[]
}

export interface MovedRow {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
  readonly configuration: unknown
  readonly state?: unknown
}

/** A configuration at one of its versions. */
export interface MovedVersion {
  readonly version: number
  readonly changeDescription: string
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
  readonly configuration: unknown
  readonly rows: readonly MovedRow[]
  readonly rowsSortOrder?: readonly string[]
}

export interface MovedConfiguration extends MovedVersion {
  readonly id: string
  readonly componentId: string
  readonly state: unknown
  readonly metadata: readonly Metadata[]
  /** Oldest first; the last one is the configuration as it is. */
  readonly versions: readonly MovedVersion[]
}

export interface NotMoved {
  readonly what: string
  readonly reason: string
}

export interface Report {
  readonly moved: Record<string, number>
  readonly notMoved: NotMoved[]
  /** Secrets are ciphers that only their own stack opens: each has to be entered again. */
  readonly secrets: { readonly place: string; readonly path: string; readonly link: string }[]
}

export const newReport = (): Report => ({ moved: {}, notMoved: [], secrets: [] })

export const count = ({ moved }: Report, what: string, more = 1): void => {
  moved[what] = (moved[what] ?? 0) + more
}

export type ProjectFolder = ReturnType<typeof projectFolder>

export function projectFolder(root: string) {
  const pathOf = (...names: string[]): string => join(root, ...names.map(safeName))

  /** Under another name until it is whole, so that what is there is complete. */
  async function write(value: unknown, ...names: string[]): Promise<void> {
    const path = pathOf(...names)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`)
    await rename(`${path}.new`, path)
  }

  async function read<T>(...names: string[]): Promise<T | undefined> {
    const text = await readFile(pathOf(...names), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as T) // `write` of this file made it
  }

  const list = async (...names: string[]): Promise<readonly string[]> =>
    (await readdir(pathOf(...names)).catch(() => [])).filter((name) => !name.endsWith('.new')).sort()

  return { root, pathOf, write, read, list }
}

/** Ids of configurations may hold characters that are no names of files. */
const safeName = (name: string): string => encodeURIComponent(name).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E'))
