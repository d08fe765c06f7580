// The commands of README.md, run as they stand, against an API of this test in place of the public one.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import type { Job } from '../support/shell-stack.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the README works, command by command', async (t) => {
  const asked: string[] = []
  const api = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`)
    const item = request.url?.startsWith('/users')
      ? { id: 1, name: 'Leanne', address: { city: 'Gwenborough' } }
      : { id: 7, title: 'x' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([item]))
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  t.after(() => api.close())
  const stack = await startTestStack(t, { worker: { jobs: 4, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })

  await runCommandsOf(t, 'README.md', {
    MILLRACE_URL: stack.url,
    TOKEN: stack.masterToken,
    API: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, // a TCP server has an address with a port
  })

  const basic = `Basic ${Buffer.from('ada:lovelace').toString('base64')}`
  assert.deepEqual(
    asked.slice(0, 2).map((line) => line.replace(/\d{9,}/, 'TIME')),
    [`${basic} /posts?since=0`, `${basic} /users?since=0`],
  )
  const preview = await stack.request('GET', '/v2/storage/tables/in.c-keboola-ex-generic-v2-placeholder.users/data-preview')
  assert.equal(preview.text, '"id","name","address_city"\n"1","Leanne","Gwenborough"\n')
  const jobs = (await stack.request('GET', '/queue/jobs')).json<Job[]>()
  assert.equal(jobs.length, 2)
  assert.equal(jobs.at(-1)!.status, 'success', JSON.stringify(jobs.at(-1)))
  assert.match(jobs[0]!.status, /^(terminat|cancel)/)
})
