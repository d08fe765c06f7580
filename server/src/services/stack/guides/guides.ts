// Which documents there are, and each as a page, rendered once.

import { PlatformError } from '../../../kit/errors.ts'
import { addressOf, type RenderedGuide, renderGuide } from './markdown-page.ts'

export interface GuidesDeps {
  readonly list: () => Promise<readonly string[]>
  readonly read: (path: string) => Promise<string>
}

export type Guides = ReturnType<typeof createGuides>

export function createGuides({ list, read }: GuidesDeps) {
  let known: Promise<ReadonlyMap<string, string>> | undefined
  const rendered = new Map<string, Promise<RenderedGuide>>()

  /** Pages by address. The documents of a running program do not change. */
  const pathsByAddress = () => {
    known ??= list().then((paths) => new Map(paths.map((path) => [addressOf(path), path])))
    return known
  }

  async function get(address: string): Promise<RenderedGuide> {
    const paths = await pathsByAddress()
    const path = paths.get(address)
    if (path === undefined) throw new PlatformError('notFound', { what: `The guide ${address.slice(0, 100)} (/help lists all)` })
    const page = rendered.get(path) ?? read(path).then((text) => renderGuide(path, text, new Set(paths.values())))
    rendered.set(path, page)
    return page
  }

  return { get }
}
