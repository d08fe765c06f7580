// Singer taps as jobs of a stack: isolated, one as a command and one as a Python package from an index of the test's own.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { createIsolation } from '../../server/src/engines/runner/isolation.ts'
import { createRuntimes } from '../../server/src/engines/runner/runtimes.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shellStack } from '../support/shell-stack.ts'

const COMPONENT = 'platform.singer'
const path = process.env.PATH ?? DEFAULT_WORKER.path
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await createIsolation({ ...isolation, path, hidden: [] })()
const python = await createRuntimes(path).find('python')

const ROW = { rowId: 'users', name: 'users', configuration: JSON.stringify({ parameters: { stream: 'users' } }) }

async function run(stack: ShellStack, config: string): Promise<Job> {
  const started = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(started.status, 201, started.text)
  return stack.wait(started.json<Job>())
}

test('a tap runs isolated: its stream is a table with a key, the next run goes on, and the stack is out of its sight', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation } })
  const script = `
    const { existsSync, readFileSync } = require('node:fs')
    const arg = (name) => process.argv[process.argv.indexOf(name) + 1]
    const schema = { properties: { id: { type: 'integer' }, sees: { type: 'string' } } }
    if (process.argv.includes('--discover')) console.log(JSON.stringify({ streams: [{ tap_stream_id: 'users', stream: 'users', schema, key_properties: ['id'], replication_key: 'id', metadata: [] }] }))
    else {
      const from = process.argv.includes('--state') ? JSON.parse(readFileSync(arg('--state'), 'utf8')).id : 0
      const sees = [existsSync('/var'), 'MILLRACE_DATA_DIR' in process.env].join()
      for (const message of [{ type: 'SCHEMA', stream: 'users', schema, key_properties: ['id'], bookmark_properties: ['id'] }, { type: 'RECORD', stream: 'users', record: { id: from + 1, sees } }, { type: 'STATE', value: { id: from + 1 } }]) console.log(JSON.stringify(message))
    }`
  const config = await stack.configure(COMPONENT, { parameters: { command: ['node', '-e', script, '--'] } }, [ROW])
  for (let i = 0; i < 2; i++) {
    const job = await run(stack, config)
    assert.equal(job.status, 'success', JSON.stringify(job.result))
  }
  const table = `in.c-platform-singer-${config}.users`
  const rows = (await stack.request('GET', `/v2/storage/tables/${table}/data-preview`)).text
  assert.deepEqual(rows.trim().split('\n').sort(), ['"1","false,false"', '"2","false,false"', '"id","sees"'])
  assert.deepEqual((await stack.request('GET', `/v2/storage/tables/${table}`)).json<{ primaryKey: string[] }>().primaryKey, [
    'id',
  ])
})

test('a tap that is a Python package is installed once, locked, and used again; a package that is not there is named', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  if ('missing' in python) return t.diagnostic(python.missing)
  const wheel = wheelOf('taptiny', TAP)
  let downloads = 0
  const server = createServer((request, response) => {
    if (request.url === '/simple/taptiny/')
      return response.setHeader('content-type', 'text/html').end(`<a href="/files/${wheel.name}">${wheel.name}</a>`)
    if (request.url !== `/files/${wheel.name}`) return response.writeHead(404).end()
    downloads++
    return response.end(wheel.bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const pythonIndexUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation, pythonIndexUrl } })
  const config = await stack.configure(COMPONENT, { parameters: { package: 'taptiny==1.0', config: { '#key': 'k' } } }, [ROW])
  const first = await run(stack, config)
  assert.equal(first.status, 'success', JSON.stringify(first.result))
  const before = downloads
  assert.ok(before > 0)
  const second = await run(stack, config)
  assert.equal(second.status, 'success', JSON.stringify(second.result))
  assert.equal(downloads, before, 'the environment is there already')
  const absent = await stack.configure(COMPONENT, { parameters: { package: 'tap-that-is-nowhere==1.0' } }, [ROW])
  assert.match((await run(stack, absent)).result.message, /The packages tap-that-is-nowhere==1.0 could not be installed: /)
})

const TAP = `import json, sys
def main():
    schema = {"properties": {"id": {"type": "integer"}}}
    if "--discover" in sys.argv:
        print(json.dumps({"streams": [{"tap_stream_id": "users", "stream": "users", "schema": schema, "key_properties": ["id"]}]}))
        return
    print(json.dumps({"type": "SCHEMA", "stream": "users", "schema": schema, "key_properties": ["id"]}))
    print(json.dumps({"type": "RECORD", "stream": "users", "record": {"id": 7}}))
`

/** The smallest package with a program that uv and pip install. */
function wheelOf(name: string, source: string): { readonly name: string; readonly bytes: Buffer } {
  const info = `${name}-1.0.dist-info`
  const files = {
    [`${name}.py`]: source,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: `[console_scripts]\n${name} = ${name}:main\n`,
    [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/entry_points.txt,,\n${info}/RECORD,,\n`,
  }
  const zip = [
    'import json, sys, io, zipfile',
    'out = io.BytesIO()',
    "with zipfile.ZipFile(out, 'w') as z:",
    '    for path, text in json.load(sys.stdin).items():',
    '        z.writestr(path, text)',
    'sys.stdout.buffer.write(out.getvalue())',
  ].join('\n')
  const bytes = execFileSync('python3', ['-c', zip], { input: JSON.stringify(files), env: { PATH: path } })
  return { name: `${name}-1.0-py3-none-any.whl`, bytes }
}
