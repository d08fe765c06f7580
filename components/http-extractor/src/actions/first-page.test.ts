import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfiguration } from '../configuration/configuration.ts'
import { createLog } from '../log.ts'
import { createRedactor } from '../redaction.ts'
import { testConnection } from './test-connection.ts'

test('an action says itself that the API takes too long, before the platform ends it', async () => {
  const redactor = createRedactor()
  const file = { api: { baseUrl: 'http://h/' }, config: { jobs: [{ endpoint: 'x' }] } }
  let isClosed = false
  const waited: number[] = []
  const action = testConnection({
    dataDir: '/nowhere',
    log: createLog({ debug: false, redactor, write: () => {} }),
    redactor,
    now: () => 0,
    sleep: async (seconds) => void waited.push(seconds),
    openWire: async () => ({
      send: () => new Promise(() => {}),
      close: async () => {
        isClosed = true
      },
    }),
    file,
    configuration: () => readConfiguration(file),
  })
  await assert.rejects(action, { name: 'UserError', message: /^The API has not answered within the 25 seconds/ })
  assert.deepEqual([waited, isClosed], [[25], true])
})
