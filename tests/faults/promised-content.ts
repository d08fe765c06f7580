// Files, configurations and tokens that a test writes and later looks for: what was acknowledged is there, what was deleted is not.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { chance } from '../support/chance.ts'
import type { Stack } from './stack.ts'

export interface Promised {
  /** SHA-256 of the content by file id. */
  readonly files: Map<number, string>
  readonly deletedFiles: Set<number>
  /** The configuration as it was sent, by configuration id. */
  readonly configurations: Map<string, object>
  readonly tokens: string[]
}

export const nothing = (): Promised => ({ files: new Map(), deletedFiles: new Set(), configurations: new Map(), tokens: [] })
export const copyOf = (promised: Promised): Promised => structuredClone(promised)
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export async function upload(stack: Stack, promised: Promised): Promise<number> {
  const content = randomBytes(1 + Math.floor(chance() * 300_000))
  const form = new FormData()
  form.set('data', new Blob([content]), `${sha256(content)}.bin`)
  const response = await fetch(`${stack.url}/import/upload-file`, {
    method: 'POST',
    headers: { 'x-storageapi-token': stack.masterToken },
    body: form,
  })
  assert.equal(response.status, 200)
  const { id } = (await response.json()) as { id: number }
  promised.files.set(id, sha256(content))
  return id
}

export async function write(stack: Stack, promised: Promised, n: number): Promise<void> {
  const id = await upload(stack, promised)
  const configuration = { parameters: { n, text: randomBytes(n % 700).toString('hex') } }
  const made = await stack.post('/v2/storage/components/platform.ex-http/configs', { name: `c ${n}`, configuration })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  promised.configurations.set((made.body as { id: string }).id, configuration)
  const token = await stack.post('/v2/storage/tokens', { description: `t ${n}` })
  promised.tokens.push((token.body as { token: string }).token)
  if (n % 3 > 0) return
  promised.files.delete(id) // from here on both answers are right, until the delete is acknowledged
  assert.ok((await stack.request('DELETE', `/v2/storage/files/${id}`)).status < 300)
  promised.deletedFiles.add(id)
}

export async function compare(stack: Stack, promised: Promised): Promise<void> {
  for (const token of promised.tokens)
    assert.equal((await stack.get('/v2/storage/tokens/verify', { 'x-storageapi-token': token })).status, 200)
  for (const [id, configuration] of promised.configurations) {
    const { body } = await stack.get(`/v2/storage/components/platform.ex-http/configs/${id}`)
    assert.deepEqual((body as { configuration: object }).configuration, configuration)
  }
  for (const id of promised.deletedFiles) assert.equal((await stack.get(`/v2/storage/files/${id}`)).status, 404)
  const listed = (await stack.get('/v2/storage/files?limit=10000')).body as { id: number; name: string; url: string }[]
  for (const { name, url } of listed) {
    const response = await fetch(url)
    assert.equal(response.status, 200, `${name} has a record and no bytes`)
    const hash = sha256(new Uint8Array(await response.arrayBuffer()))
    if (name.endsWith('.bin')) assert.equal(`${hash}.bin`, name)
  }
  const there = new Map(listed.map(({ id, name }) => [id, name]))
  for (const [id, hash] of promised.files) assert.equal(there.get(id), `${hash}.bin`)
}
