// millrace mcp: a bridge for agents that start a program and talk to it by lines of JSON. Each message goes to /mcp of the stack with the
// token of the profile, and the answer comes back as a line. Nothing else is written to standard output.

import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { stackOptions } from '../client.ts'
import { UserError } from '../output.ts'
import { stackOf } from '../stack-choice.ts'

const VERSION_OF_MESSAGE = 'io.modelcontextprotocol/protocolVersion'
const INTERNAL_ERROR = -32603

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: unknown; readonly uri?: unknown; readonly _meta?: Readonly<Record<string, unknown>> }
  readonly result?: { readonly protocolVersion?: unknown }
}

interface McpOptions {
  readonly groups?: string
  readonly branch?: string
}

export function addMcpCommand(program: Command): void {
  stackOptions(program.command('mcp'))
    .description('serve the tools for agents (Model Context Protocol) over standard input and output')
    .option('--groups <names>', 'groups of tools, with commas: look, query, run, build, admin')
    .option('--branch <id>', 'work in this branch')
    .action(async ({ groups, branch }: McpOptions, command: Command) => {
      const { url, token } = stackOf(command)
      if (!token)
        throw new UserError(`A token for ${url} is required: save one with millrace login, set MILLRACE_TOKEN or use --token.`)
      const address = new URL('/mcp', `${url}/`)
      if (groups !== undefined) address.searchParams.set('groups', groups)
      if (branch !== undefined) address.searchParams.set('branch', branch)
      await bridge(address, token)
    })
}

async function bridge(address: URL, token: string): Promise<void> {
  const write = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`)
  /** As agreed by `initialize`; newer clients name it in every message. */
  let agreed: string | undefined
  const running = new Set<Promise<void>>()

  async function forward(line: string): Promise<void> {
    const message = parse(line)
    const named = message?.params?._meta?.[VERSION_OF_MESSAGE]
    const version = typeof named === 'string' ? named : agreed
    try {
      const response = await fetch(address, { method: 'POST', headers: headersOf(message, token, version), body: line })
      for (const answer of await answersOf(response)) {
        const { result } = answer as Message
        if (message?.method === 'initialize' && typeof result?.protocolVersion === 'string') agreed = result.protocolVersion
        write(answer)
      }
    } catch (error) {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
      const cause = reason instanceof Error ? reason.message : String(reason)
      process.stderr.write(`${address.origin}: ${cause}\n`)
      if (message?.id === undefined) return
      write({
        jsonrpc: '2.0',
        id: message.id,
        error: { code: INTERNAL_ERROR, message: cause },
      })
    }
  }

  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    const work = forward(line).finally(() => running.delete(work))
    running.add(work)
    // What follows depends on the version that it agrees on.
    if (parse(line)?.method === 'initialize') await work
  }
  await Promise.all(running)
}

/** The protocol requires method and name in headers, too, so that a proxy can route by them. */
function headersOf(message: Message | undefined, token: string, version: string | undefined): Record<string, string> {
  const name = message?.params?.name ?? message?.params?.uri
  return {
    'X-StorageApi-Token': token,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(version !== undefined && { 'MCP-Protocol-Version': version }),
    ...(typeof message?.method === 'string' && isHeader(message.method) && { 'Mcp-Method': message.method }),
    ...(typeof name === 'string' && isHeader(name) && { 'Mcp-Name': name }),
  }
}

const isHeader = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** One message as JSON, or messages as a stream of events; an error of the stack that is none of the protocol is thrown. */
async function answersOf(response: Response): Promise<unknown[]> {
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream'))
    return text
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line): unknown => JSON.parse(line.slice('data:'.length)))
  if (text === '') return []
  const answer: unknown = JSON.parse(text)
  if (typeof answer === 'object' && answer !== null && 'jsonrpc' in answer) return [answer]
  throw new Error(sentenceOf(answer, response.status))
}

const sentenceOf = (answer: unknown, status: number): string =>
  typeof answer === 'object' && answer !== null && 'error' in answer ? `${String(answer.error)} (${status})` : `status ${status}`

function parse(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line)
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined // the stack reports what is wrong with it
  }
}
