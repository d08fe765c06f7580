// Every route, with no token and with a wrong one. That tokens of another project find nothing is tested room by room (invariant 7).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send, startTestStack } from '../support/test-stack.ts'

interface Paths {
  readonly paths: Record<string, Record<string, { readonly 'x-scopes': readonly string[]; readonly operationId: string }>>
}

test('no route that needs a token answers without one or with a wrong one', async (t) => {
  const { request, url } = await startTestStack(t)
  const { paths } = (await request('GET', '/openapi.json')).json<Paths>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation['x-scopes'][0] === 'nothing') continue
      const address = path.replace(/\{\w+\}/g, '1')
      const missing = await send(url, method.toUpperCase(), address, { token: null })
      assert.equal(missing.status, 401, `${method} ${path}: ${missing.text}`)
      assert.equal(missing.json().error, 'Access token must be set')
      const wrong = await send(url, method.toUpperCase(), address, { token: '1-1-wrong' })
      assert.equal(wrong.status, 401, `${method} ${path}: ${wrong.text}`)
      assert.equal(wrong.json().error, 'Invalid access token')
    }
  }
})
