import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

interface Comment {
  readonly id: string
  readonly text: string
  readonly author: { readonly description: string }
  readonly edited: string | null
}

test('a comment has an author, who changes it; the author and admins delete it; it goes with its table', async () => {
  const stack = await startProject()
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'shop' } })
  const load = () =>
    stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'orders', dataString: 'id\n1\n' } })
  await load()
  const comments = '/v2/storage/tables/in.c-shop.orders/comments'
  const newToken = async (description: string, permissions: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json: { description, bucketPermissions: permissions } })).json<{
      token: string
    }>().token
  const reader = await newToken('reader', { 'in.c-shop': 'read' })
  const stranger = await newToken('stranger', {})
  const said = await stack.request('POST', comments, { json: { text: '  Refunds are negative. ' }, token: reader })
  assert.equal(said.status, 201, said.text)
  const { id, text, author } = said.json<Comment>()
  assert.deepEqual([text, author.description], ['Refunds are negative.', 'reader'])
  assert.equal((await stack.request('GET', comments, { token: stranger })).status, 403)
  assert.equal((await stack.request('POST', comments, { json: { text: 'x' }, token: stranger })).status, 403)

  const byOther = await stack.request('PUT', `${comments}/${id}`, { json: { text: 'Mine' } })
  assert.deepEqual([byOther.status, byOther.json().code], [403, 'storage.comments.notAuthor'])
  const own = await stack.request('POST', comments, { json: { text: 'Of the admin' } })
  const refused = await stack.request('DELETE', `${comments}/${own.json<Comment>().id}`, { token: reader })
  assert.deepEqual([refused.status, refused.json().code], [403, 'storage.comments.notAuthor'])
  const changed = await stack.request('PUT', `${comments}/${id}`, { json: { text: 'Refunds are below 0.' }, token: reader })
  assert.ok(changed.json<Comment>().edited)
  for (const bad of [{}, { text: '' }, { text: '   ' }, { text: 'x'.repeat(10_001) }])
    assert.equal((await stack.request('POST', comments, { json: bad })).status, 400, JSON.stringify(bad).slice(0, 40))
  assert.equal((await stack.request('PUT', `${comments}/first`, { json: { text: 'x' } })).status, 404)
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-shop.gone/comments')).status, 404)

  assert.equal((await stack.request('DELETE', `${comments}/${id}`)).status, 204, 'by an admin')
  const left = (await stack.request('GET', comments)).json<Comment[]>()
  assert.deepEqual(
    left.map((one) => one.text),
    ['Of the admin'],
  )
  await stack.request('DELETE', '/v2/storage/tables/in.c-shop.orders')
  await load()
  assert.deepEqual((await stack.request('GET', comments)).json(), [], 'a new table of the same name begins without comments')
  await stack.request('POST', comments, { json: { text: 'Goes with the bucket' } })
  await stack.request('DELETE', '/v2/storage/buckets/in.c-shop?force=1')
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'shop' } })
  await load()
  assert.deepEqual((await stack.request('GET', comments)).json(), [])
})
