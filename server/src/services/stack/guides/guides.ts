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

  /** The document as it is written. */
  async function source(address: string): Promise<string> {
    const path = (await pathsByAddress()).get(address)
    if (path === undefined)
      throw new PlatformError('notFound', { what: `The guide ${address.slice(0, 100)} (/llms.txt lists all)` })
    return read(path)
  }

  /** The list of documents for language models (llmstxt.org): guides first, then what explains and specifies. */
  async function index(): Promise<string> {
    const entries: { address: string; title: string; isGuide: boolean }[] = []
    for (const [address, path] of await pathsByAddress()) {
      const title = /^# (.+)$/m.exec(await read(path))?.[1] ?? address
      entries.push({ address, title, isGuide: !/^\/help\/(?:adr|specification)\b/.test(address) })
    }
    const lines = (isGuide: boolean) =>
      entries
        .filter((one) => one.isGuide === isGuide)
        .map(({ address, title }) => `- [${title}](${address === '/help' ? '/help/index' : address}.md)`)
    return [
      '# Millrace',
      '',
      '> A self-hosted data platform: extractors, tables, SQL transformations, flows, schedules and data apps behind one HTTP API. Agents use `/mcp` (see [Agents](/help/agents.md)); every operation is in `/openapi.json`, and `/help/errors/<code>.md` explains an error code and what to do.',
      '',
      '## Guides',
      ...lines(true),
      '',
      '## Optional',
      ...lines(false),
      '',
    ].join('\n')
  }

  return { get, source, index }
}
