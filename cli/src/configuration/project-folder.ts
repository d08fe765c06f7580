// A project as a folder: what `export-project` writes and `import-project` reads, and what both remember about how far they came.
//
//   project.json                              where it came from
//   buckets/<bucket>.json                     the bucket with its metadata and tables
//   tables/<table>.csv.gz                     rows without a header, columns as in the bucket file
//   configurations/<component>/<id>.json      the configuration with rows, metadata and versions
//   files/<id>.json with files/<id> or, when it is sliced, files/<id>.slices/<n>      on request
//   metadata.json                             of the branch
//   tokens.json, triggers.json, streams.json, subscriptions.json, variables.json
//   branches/<id>/branch.json                 a development branch; beside it the same as above for what it has of its own
//   import-<project>.json                     what an import has done already
//   tokens-<project>.json                     the tokens it made; their values are shown once
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
  readonly idBranch?: number
  readonly isLinkedBucket?: boolean
  readonly sourceBucket?: { readonly id: string; readonly project: { readonly id: number; readonly name: string } }
  /** With whom it is shared; null or missing when it is not. */
  readonly sharing?: string | null
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

export interface MovedToken {
  readonly id: string
  readonly description: string
  readonly isMasterToken: boolean
  readonly expires: string | null
  readonly canManageBuckets?: boolean
  readonly canReadAllFileUploads?: boolean
  readonly canPurgeTrash?: boolean
  readonly componentAccess?: readonly string[]
  readonly bucketPermissions?: Readonly<Record<string, string>> | readonly never[]
}

export interface MovedTrigger {
  readonly id: string
  readonly component: string
  readonly configurationId: string
  readonly coolDownPeriodMinutes: number
  readonly runWithTokenId: number
  readonly tables: readonly { readonly tableId: string }[]
}

export interface MovedSource {
  readonly sourceId: string
  readonly type: string
  readonly name: string
  readonly description?: string
  readonly disabled?: object
  readonly settings: readonly { readonly key: string; readonly value: unknown }[]
  readonly sinks: readonly {
    readonly sinkId: string
    readonly name: string
    readonly description?: string
    readonly table: { readonly tableId: string; readonly mapping: object }
  }[]
}

export interface MovedBranch {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
}

export interface MovedFile {
  readonly id: number
  readonly name: string
  readonly tags: readonly string[]
  readonly isPermanent: boolean
  /** Names of its slices in the folder, in order, when it is sliced. */
  readonly slices?: readonly string[]
}

/** A token that an import made in place of another. */
export interface NewToken {
  readonly was: string
  readonly id: string
  readonly description: string
  readonly token: string
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
  /** Values of configurations that mean something else here, and were written in the spelling of this stack. */
  readonly rewritten: { readonly place: string; readonly path: string; readonly was: string }[]
  /** The tokens that were created, with their values: users of the old ones need them. */
  readonly tokens: NewToken[]
  /** Where senders of records reach the sources now. */
  readonly addresses: { readonly source: string; readonly address: string }[]
}

export const newReport = (): Report => ({ moved: {}, notMoved: [], secrets: [], rewritten: [], tokens: [], addresses: [] })

export const count = ({ moved }: Report, what: string, more = 1): void => {
  moved[what] = (moved[what] ?? 0) + more
}

export interface ProjectFolder {
  readonly root: string
  pathOf(...names: string[]): string
  write(value: unknown, ...names: string[]): Promise<void>
  read<T>(...names: string[]): Promise<T | undefined>
  list(...names: string[]): Promise<readonly string[]>
  inner(...names: string[]): ProjectFolder
}

export function projectFolder(root: string): ProjectFolder {
  const pathOf = (...names: string[]): string => join(root, ...names.map(safeName))

  /** Under another name until it is whole, so that what is there is complete. */
  async function write(value: unknown, ...names: string[]): Promise<void> {
    const path = pathOf(...names)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 }) // it may have values of tokens
    await rename(`${path}.new`, path)
  }

  async function read<T>(...names: string[]): Promise<T | undefined> {
    const text = await readFile(pathOf(...names), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as T) // `write` of this file made it
  }

  const list = async (...names: string[]): Promise<readonly string[]> =>
    (await readdir(pathOf(...names)).catch(() => [])).filter((name) => !name.endsWith('.new')).sort()

  /** A folder of the same kind in this one. */
  const inner = (...names: string[]): ProjectFolder => projectFolder(pathOf(...names))

  return { root, pathOf, write, read, list, inner }
}

/** Ids of configurations may hold characters that are no names of files. */
const safeName = (name: string): string => encodeURIComponent(name).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E'))
