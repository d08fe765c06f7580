import type { Readable } from 'node:stream'

/** What a bucket can do for backups. */
export interface BackupObjects {
  put(key: string, body: AsyncIterable<Uint8Array>): Promise<unknown>
  get(key: string): Promise<{ readonly body: Readable } | undefined>
  delete(keys: readonly string[]): Promise<void>
  list(query: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<{
    readonly objects: readonly { readonly key: string }[]
    readonly more: boolean
  }>
}
