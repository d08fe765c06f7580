import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../tests/support/run-cli.ts'
import { shareTestStack } from '../../tests/support/test-stack.ts'

const startProject = shareTestStack()

test('drops, tokens and projects of a stack that is not on this machine need --yes where there is no terminal', async () => {
  const { url, masterToken, dataDir, projectId, request } = await startProject()
  // The same stack by an address that is not a loopback one.
  const remote = url.replace('127.0.0.1', '0.0.0.0')
  const run = (args: readonly string[], at: string) =>
    runCli(args, { MILLRACE_URL: at, MILLRACE_TOKEN: masterToken, MILLRACE_DATA_DIR: dataDir })
  const refused = async (...args: string[]) => {
    const { code, out, err } = await run(args, remote)
    assert.deepEqual([code, out], [1, ''], args.join(' '))
    assert.match(err, /^millrace: .*this requires confirmation, and there is no terminal\. Use --yes\.\n$/)
    return err
  }
  for (const name of ['a', 'b']) await request('POST', '/v2/storage/buckets', { json: { stage: 'in', name } })
  const buckets = async () => (await request('GET', '/v2/storage/buckets')).json<{ id: string }[]>().map(({ id }) => id)

  assert.match(await refused('bucket', 'drop', 'in.c-a'), /Delete bucket in\.c-a at http:\/\/0\.0\.0\.0/)
  assert.deepEqual((await buckets()).length, 2)
  assert.equal((await run(['bucket', 'drop', 'in.c-a', '--yes'], remote)).code, 0)
  assert.equal((await run(['bucket', 'drop', 'in.c-b'], url)).code, 0, 'nothing is asked on this machine')
  assert.deepEqual(await buckets(), [])

  const onStack = ['token', 'create', '--url', remote, '--description', 'by the API']
  await refused(...onStack)
  const { id } = (await run([...onStack, '--yes', '--json'], remote)).json<{ id: string }>()
  assert.match((await run(['token', 'list', '--url', url], url)).out, /by the API/)
  assert.equal((await run(['token', 'delete', id, '--url', url], url)).code, 0)
  assert.doesNotMatch((await run(['token', 'list', '--project', String(projectId)], url)).out, /by the API/)

  const rename = ['project', 'rename', String(projectId), 'Brook']
  assert.match(await refused(...rename), /Rename project \d+ of the installation in \S+, not at http:\/\/0\.0\.0\.0/)
  await refused('token', 'reset-master', '--project', String(projectId))
  assert.equal((await run([...rename, '--yes'], remote)).code, 0)
})
