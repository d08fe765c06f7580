// millrace admin, people and the life of a project, beside a running stack.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newBrowser, PASSWORD } from '../../../tests/support/clients/person-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

test('whoever owns the machine lets people in, and pauses and deletes projects', { timeout: 120_000 }, async (t) => {
  const stack = await startTestStack(t)
  const cli = async (...args: string[]) => {
    const result = await runCli([...args, '--json'], { MILLRACE_DATA_DIR: stack.dataDir })
    assert.equal(result.code, 0, result.err)
    return result.json<Record<string, string>>()
  }
  const valueIn = ({ link }: Record<string, string>): string => link!.split('#link=')[1]!
  const admin = newBrowser(stack, 'ann@example.com')
  const person = { name: 'Ann', email: admin.email, password: PASSWORD }
  await admin.ok('POST', '/sign-in/link', { link: valueIn(await cli('admin', 'sign-in-link')), ...person })
  const editor = newBrowser(stack, 'bob@example.com')
  const invitation = await cli('people', 'invite', editor.email, '--project', String(stack.projectId), '--role', 'editor')
  await editor.ok('POST', '/sign-in/link', { link: valueIn(invitation), name: 'Bob', password: PASSWORD })
  await editor.ok('POST', '/v2/storage/buckets', { name: 'a' })

  await cli('project', 'pause', String(stack.projectId), '--reason', 'moving')
  const paused = await stack.request('POST', '/v2/storage/buckets', { json: { name: 'b' } })
  assert.match(paused.text, /This project is paused \(moving\)/)
  await cli('project', 'resume', String(stack.projectId))
  await cli('project', 'delete', String(stack.projectId))
  await cli('project', 'restore', String(stack.projectId))
  await cli('project', 'rename', String(stack.projectId), 'Renamed')
  assert.equal((await admin.ok<{ name: string }>('GET', `/manage/projects/${stack.projectId}`)).name, 'Renamed')

  const last = await runCli(['people', 'remove', admin.email], { MILLRACE_DATA_DIR: stack.dataDir })
  assert.deepEqual([last.code, /last stack admin/.test(last.err)], [1, true])
  await cli('people', 'admin', editor.email)
  await cli('people', 'remove', admin.email)
  assert.equal((await admin.signIn()).status, 401)
})
