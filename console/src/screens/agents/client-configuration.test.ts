import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENTS, installLinkOf } from './client-configuration.ts'

const linkOf = (name: string, token?: string) =>
  installLinkOf(CLIENTS.find((one) => one.name === name)!, 'https://stack.example', token)

test('a link adds the server to clients that support it, with a token or a sign-in', () => {
  const cursor = new URL(linkOf('Cursor', 'one+/=token')!)
  assert.equal(cursor.protocol, 'cursor:')
  assert.equal(cursor.searchParams.get('name'), 'millrace')
  assert.deepEqual(JSON.parse(atob(cursor.searchParams.get('config')!)), {
    type: 'http',
    url: 'https://stack.example/mcp',
    headers: { Authorization: 'Bearer one+/=token' },
  })
  const [address, server] = linkOf('VS Code')!.split('?') as [string, string]
  assert.equal(address, 'vscode:mcp/install')
  assert.deepEqual(JSON.parse(decodeURIComponent(server)), { name: 'millrace', type: 'http', url: 'https://stack.example/mcp' })
  assert.equal(linkOf('Claude Code'), undefined)
})
