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
  // Examples are what the templates of the catalogue create with their defaults, under every id of the component.
  interface Shown {
    readonly rootConfigurationExamples: { parameters: { api?: { baseUrl: string; pagination?: object }; config?: object } }[]
    readonly rowConfigurationExamples: { parameters?: object; storage?: object }[]
  }
  for (const id of ['keboola.ex-generic-v2', 'ex-generic-v2']) {
    const { rootConfigurationExamples: examples } = (await request('GET', `/ai/docs/components/${id}`)).json<Shown>()
    assert.ok(examples.length >= 3, JSON.stringify(examples))
    assert.ok(examples.some(({ parameters }) => parameters.api?.pagination !== undefined))
    assert.ok(examples.every(({ parameters }) => parameters.api?.baseUrl.startsWith('http')))
    assert.ok(examples.some(({ parameters }) => /"#password":""/.test(JSON.stringify(parameters))))
    const valid = await request('POST', `/v2/storage/components/${id}/configs/validate`, { json: { configuration: examples[0] } })
    assert.equal(valid.json<{ isValid: boolean }>().isValid, true, valid.text)
  }
  const writer = (await request('GET', '/ai/docs/components/platform.wr-http')).json<Shown>()
  assert.ok(
    writer.rowConfigurationExamples.every((row) => row.storage !== undefined && row.parameters !== undefined),
    JSON.stringify(writer),
  )
  assert.doesNotMatch(JSON.stringify([shown, writer]), /"\$(?:input|if|text|stack|instance)"/)
  assert.equal((await request('GET', '/ai/docs/components/none')).status, 404)
})
