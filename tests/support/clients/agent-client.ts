// The official client of the Model Context Protocol, connected to a test stack.

import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestScope } from '../test-stack.ts'

/** Which generation of the protocol the client uses. */
export type Era = 'modern' | 'legacy'

export interface ToolAnswer {
  readonly isError: boolean
  /** What a client without structured content reads. */
  readonly text: string
  readonly value: Readonly<Record<string, unknown>>
}

export interface AgentOptions {
  readonly token: string
  readonly era?: Era
  /** Query of the address, such as `?groups=look`. */
  readonly query?: string
  /** A client that shows pages to its person (elicitation in the mode `url`); it shows none otherwise. */
  readonly onPage?: (page: { readonly url: string; readonly message: string }) => Promise<'accept' | 'decline'>
  /** Nodes that take turns; all requests go to `url` without. */
  readonly nodes?: readonly string[]
}

export type Agent = Awaited<ReturnType<typeof connectAgent>>

export async function connectAgent(
  t: TestScope,
  url: string,
  { token, era = 'modern', query = '', nodes = [url], onPage }: AgentOptions,
) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      ...(onPage && { capabilities: { elicitation: { url: {} } } }),
    },
  )
  if (onPage)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      assert.equal(params.mode, 'url')
      return { action: await onPage(params as { url: string; message: string }) } // by its mode
    })
  let turn = 0
  const transport = new StreamableHTTPClientTransport(new URL(`/mcp${query}`, url), {
    fetch: (address, init) =>
      fetch(new URL(new URL(address).pathname + new URL(address).search, nodes[turn++ % nodes.length]), init),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  t.after(() => client.close())
  return { client, tools: async () => (await client.listTools()).tools, ...callerOf(client) }
}

export function callerOf(client: Client) {
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> => {
    const result = await client.callTool({ name, arguments: args })
    const [first] = result.content
    const text = first?.type === 'text' ? first.text : ''
    const isError = result.isError === true
    const value = (isError ? JSON.parse(text) : result.structuredContent) as ToolAnswer['value']
    return { isError, text, value }
  }
  /** For calls that must succeed. */
  const use = async <T = Record<string, unknown>>(name: string, args: Record<string, unknown> = {}): Promise<T> => {
    const { isError, text, value } = await call(name, args)
    assert.equal(isError, false, `${name}: ${text}`)
    return value as T
  }
  return { call, use }
}
