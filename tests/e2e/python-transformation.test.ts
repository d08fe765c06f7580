// The Python transformation over HTTP only, with the Python of this machine. A package index of the test's own serves its packages.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { createIsolation } from '../../server/src/engines/runner/isolation.ts'
import { createRuntimes } from '../../server/src/engines/runner/runtimes.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shellStack } from '../support/shell-stack.ts'

const COMPONENT = 'keboola.python-transformation-v2'
const path = process.env.PATH ?? DEFAULT_WORKER.path
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await createIsolation({ ...isolation, path, hidden: [] })()
const python = await createRuntimes(path).find('python')
const missing = problem ?? ('missing' in python ? python.missing : undefined)

const code = (...script: string[]) => [{ name: 'Sums', codes: [{ name: 'By city', script }] }]

async function run(stack: ShellStack, configuration: object): Promise<Job & { readonly said: string }> {
  const config = await stack.configure(COMPONENT, configuration)
  const started = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(started.status, 201, started.text)
  const job = await stack.wait(started.json<Job>())
  return { ...job, said: (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text }
}

test('G17: Python code reads tables of the input mapping and writes those of the output mapping, codes share their names', async (t) => {
  if (missing !== undefined) return t.diagnostic(missing)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation } })
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  const csv = 'city,price\nPrague,1\nBrno,2\nPrague,3\n'
  await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { json: { name: 'orders', dataString: csv } })
  const job = await run(stack, {
    parameters: {
      blocks: [
        {
          name: 'Read',
          codes: [
            {
              name: 'all',
              script: [
                'import csv, os',
                "with open('in/tables/orders.csv', newline='') as f:\n    rows = list(csv.DictReader(f))",
              ],
            },
          ],
        },
        ...code(
          'sums = {}',
          'for row in rows:',
          "    sums[row['city']] = sums.get(row['city'], 0) + int(row['price'])",
          "with open('out/tables/sums.csv', 'w', newline='') as f:",
          "    csv.writer(f).writerows([['city', 'total'], *sorted(sums.items())])",
          "print('cities:', len(sums))",
          "print(os.path.exists(os.environ['KBC_DATADIR'] + '../../../root-keys'), 'MILLRACE_DATA_DIR' in os.environ)",
        ),
      ],
    },
    storage: {
      input: { tables: [{ source: 'in.c-main.orders', destination: 'orders.csv' }] },
      output: { tables: [{ source: 'sums.csv', destination: 'out.c-main.sums', primary_key: ['city'] }] },
    },
  })
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.match(job.said, /Running Sums \/ By city\./)
  assert.match(job.said, /cities: 2/)
  assert.match(job.said, /False False/)
  const rows = (await stack.request('GET', '/v2/storage/tables/out.c-main.sums/data-preview')).text
  assert.deepEqual(rows.trim().split('\n').sort(), ['"Brno","2"', '"Prague","4"', '"city","total"'])

  const failed = await run(stack, { parameters: { blocks: code('x = 1', '', "raise ValueError('no such city')") } })
  assert.equal(failed.status, 'error')
  assert.match(failed.result.message, /^Sums \/ By city, line 3: ValueError: no such city\n/)
  assert.doesNotMatch(failed.result.message, /main\.py/)
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ blocks: code("print('never')", 'for') }, /^Sums \/ By city, line 2: SyntaxError: invalid syntax$/],
    [{}, /^parameters\.blocks is invalid\. Expected: /],
    [{ blocks: [], packages: ['--index-url=http://127.0.0.1'] }, /^parameters\.packages contains "--index-url=.*not a package/],
    [{ source: 'git', git: { url: 'https://example.com/a' } }, /^parameters\.git is not supported/],
    [{ blocks: code('import sys', "sys.exit('stopped by the code')") }, /^stopped by the code$/],
  ]
  for (const [parameters, text] of refusals) {
    const refused = await run(stack, { parameters })
    assert.match(refused.result.message, text)
    assert.doesNotMatch(refused.said, /never/)
  }
})

test('G17: packages of the configuration are installed for the run, from the index of the operator', async (t) => {
  if (missing !== undefined) return t.diagnostic(missing)
  const wheel = wheelOf('millracegreeting', "def greet():\n    return 'greeted by a package'\n")
  const server = createServer((request, response) => {
    if (request.url === '/simple/millracegreeting/')
      return response.setHeader('content-type', 'text/html').end(`<a href="/files/${wheel.name}">${wheel.name}</a>`)
    if (request.url === `/files/${wheel.name}`) return response.end(wheel.bytes)
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const pythonIndexUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation, pythonIndexUrl } })
  const blocks = code('import millracegreeting', 'print(millracegreeting.greet())')
  const job = await run(stack, { parameters: { blocks, packages: ['millracegreeting==1.0'] } })
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.match(job.said, /greeted by a package/)
  const absent = await run(stack, { parameters: { blocks, packages: ['millrace-no-such-package'] } })
  assert.match(absent.result.message, /^The packages millrace-no-such-package could not be installed: /)
  const without = await run(stack, { parameters: { blocks } })
  assert.match(without.result.message, /ModuleNotFoundError: No module named 'millracegreeting'/)
})

test('G17: user code does not run where nothing isolates it, and without Python the job fails with one sentence', async (t) => {
  const parameters = { blocks: code('print(1)') }
  if (!('missing' in python)) {
    const open = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation: { ...isolation, mode: 'off' } } })
    assert.match(
      (await run(open, { parameters })).result.message,
      /runs user code, which only runs isolated.*MILLRACE_ISOLATION is off/,
    )
  }
  const bare = await shellStack(t, { worker: { ...DEFAULT_WORKER, path: '/nonexistent', isolation } })
  assert.equal(
    (await run(bare, { parameters })).result.message,
    `The component ${COMPONENT} needs Python, and python3 is not in the PATH of the stack. The operator installs Python 3 on the nodes that run jobs.`,
  )
})

/** The smallest package that uv and pip install. */
function wheelOf(name: string, source: string): { readonly name: string; readonly bytes: Buffer } {
  const info = `${name}-1.0.dist-info`
  const files = {
    [`${name}.py`]: source,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
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
