// When repositories of templates are refreshed by themselves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../../tests/support/until.ts'
import { createRefreshLoop, type TemplateSource } from './sources.ts'

function source(url: string, problem?: string) {
  const asked = { times: 0 }
  const made: TemplateSource = {
    name: url,
    url,
    ref: '',
    state: () => (problem === undefined ? {} : { problem }),
    refresh: async () => void asked.times++,
  }
  return { asked, made }
}

test('every repository is refreshed at the start and then at every interval, until the stack stops', async () => {
  const [fine, broken] = [source('https://a.example.com'), source('https://b.example.com', 'b answers HTTP 500.')]
  const said: object[] = []
  const log = { warn: (details: object) => void said.push(details) }
  const loop = createRefreshLoop({ sources: [broken.made, fine.made], everyMs: 2, log })
  assert.equal(fine.asked.times, 0)
  loop.start()
  await until('three rounds', async () => fine.asked.times >= 3)
  loop.stop()
  await until('no further round', async () => {
    const { times } = fine.asked
    await new Promise((resolve) => setTimeout(resolve, 20))
    return fine.asked.times === times
  })
  assert.ok(broken.asked.times >= fine.asked.times)
  assert.deepEqual(said[0], { url: 'https://b.example.com', problem: 'b answers HTTP 500.' })
})

test('with an interval of 0 nothing is refreshed by itself', async () => {
  const one = source('https://a.example.com')
  createRefreshLoop({ sources: [one.made], everyMs: 0, log: { warn: assert.fail } }).start()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(one.asked.times, 0)
})
