// Files at addresses that the row names. There is nothing to list, so an address is one file, and patterns are of no use.

import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { type Headers, httpGet } from './http-get.ts'
import type { Store } from './store.ts'

export function openHttp(urls: readonly string[], headers: Headers, guard: EgressGuard): Store {
  const byPath = new Map(
    urls.map((text) => {
      if (!URL.canParse(text)) throw new UserError(`"${text.slice(0, 100)}" in urls is not an address. Use https://host/path.`)
      const url = new URL(text)
      return [`${url.host}${url.pathname}`, url]
    }),
  )
  if (byPath.size < urls.length) throw new UserError('Two addresses in urls have the same host and path. Use a row for each.')

  /** Without a tag or a time, and where the server does not answer HEAD, each run reads the file. */
  async function versionOf(url: URL): Promise<{ readonly version: string; readonly bytes: number | undefined }> {
    try {
      const response = await httpGet(url, headers, guard, { method: 'HEAD' })
      response.resume()
      const { etag, 'last-modified': changed, 'content-length': bytes } = response.headers
      if (etag === undefined && changed === undefined) throw new UserError('no version')
      return { version: `${bytes ?? ''}-${etag ?? changed}`, bytes: bytes === undefined ? undefined : Number(bytes) }
    } catch {
      return { version: `read ${Date.now()}`, bytes: undefined }
    }
  }

  return {
    async list(_prefix, take) {
      for (const [path, url] of byPath) take({ path, ...(await versionOf(url)) })
    },
    open: ({ path }) => httpGet(byPath.get(path)!, headers, guard), // as listed
    close() {},
  }
}
