import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { Type } from 'typebox'
import { collectRoutes } from '../../../http/openapi.ts'
import { curlExample } from './curl-example.ts'
import { docsPage } from './docs-page.ts'

const schema = {
  params: Type.Object({ id: Type.String({ description: 'Which <thing>.', examples: ['a b'] }) }),
  querystring: Type.Object({ depth: Type.Integer({ minimum: 2, description: 'How deep.' }) }),
  body: Type.Object({
    name: Type.String({ description: "The thing's name.", examples: ["it's"] }),
    colours: Type.Optional(Type.Array(Type.String(), { description: 'Its colours.' })),
  }),
  response: { 200: Type.Null() },
}

async function routes() {
  const app = Fastify()
  const collected = collectRoutes(app)
  app.post(
    '/things/:id',
    { config: { operation: 'things.change', summary: 'Change <a> thing', needs: 'token' }, schema },
    async () => null,
  )
  const notBuilt = { operation: 'apples.share', summary: 'Not built: share', needs: 'nothing' } as const
  app.get('/apples', { config: notBuilt, schema: { response: { 501: Type.Unknown() } } }, async () => null)
  const form = Type.Object({
    data: Type.String({ description: 'The file.' }),
    tag: Type.Optional(Type.String({ description: 'Tag.' })),
  })
  app.put(
    '/upload',
    {
      config: { operation: 'things.upload', summary: 'Upload', needs: 'token', body: 'stream', form },
      schema: { response: { 200: Type.Null() } },
    },
    async () => null,
  )
  await app.ready()
  await app.close()
  return collected
}

test('a request to copy names everything that is required, quoted for a shell', async () => {
  const [change, share, upload] = await routes()
  assert.equal(
    curlExample(change!, 'http://x'),
    `curl --fail-with-body -H "X-StorageApi-Token: $MILLRACE_TOKEN" 'http://x/things/a%20b?depth=2' --json '{"name":"it'\\''s"}'`,
  )
  assert.equal(curlExample(share!, 'http://x'), `curl --fail-with-body 'http://x/apples'`)
  assert.equal(
    curlExample(upload!, 'http://x'),
    `curl --fail-with-body -X PUT -H "X-StorageApi-Token: $MILLRACE_TOKEN" 'http://x/upload' -F 'data=@data.csv'`,
  )
})

test('the page shows what is built first, and every parameter with its place, type and sentence', async () => {
  const page = docsPage(await routes(), 'http://x')
  const headings = Array.from(page.matchAll(/<h2 id="[^"]*">([^<]*)/g), (match) => match[1])
  assert.deepEqual(headings, ['things', 'Not built'])
  for (const text of [
    'Which &lt;thing&gt;.',
    'How deep.',
    'The thing&#39;s name.',
    '<td>array</td><td>Its colours.</td>',
    '<td>query</td><td>integer</td>',
  ])
    assert.ok(page.includes(text), text)
  assert.ok(!page.includes('Change <a> thing'))
})
