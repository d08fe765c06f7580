import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

test('questions are answered with passages of the documentation, without a model', async () => {
  const { request, url } = await startProject()
  const ask = (query: string) => request('POST', '/ai/docs/question', { json: { query } })
  const { text, sourceUrls } = (await ask('What happens to a schedule after daylight saving time changes?')).json<{
    text: string
    sourceUrls: string[]
  }>()
  assert.match(text, /clock|daylight/i)
  assert.ok(
    sourceUrls.some((address) => address.startsWith(`${url}/help/schedules`)),
    sourceUrls.join(' '),
  )
  for (const address of sourceUrls) assert.equal((await request('GET', address, { token: null })).status, 200, address)
  const code = (await ask('storage.tokenInvalid')).json<{ text: string }>()
  assert.match(code.text, /storage\.tokenInvalid/)
  assert.match((await ask('zzzzqqqq')).json<{ text: string }>().text, /no passage/)
  assert.equal((await ask('')).status, 400)
  assert.equal((await request('POST', '/ai/docs/question', { token: null, json: { query: 'a' } })).status, 401)
})

test('components are suggested by words, and described', async () => {
  const { request } = await startProject()
  const { components } = (await request('POST', '/ai/suggest/component', { json: { prompt: 'transformation in SQL' } })).json<{
    components: { componentId: string; score: number }[]
  }>()
  assert.match(components[0]!.componentId, /transformation|sql/i)
  assert.ok(components.every(({ score }) => score > 0 && score <= 1))
  const shown = (await request('GET', '/ai/docs/components/keboola.ex-generic-v2')).json<{
    componentId: string
    documentation: string
  }>()
  assert.equal(shown.componentId, 'keboola.ex-generic-v2')
  assert.ok(shown.documentation.length > 50)
  assert.equal((await request('GET', '/ai/docs/components/none')).status, 404)
})
