import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { shellStack } from '../../../tests/support/shell-stack.ts'

test('flows are run, shown, run again and looked at for mistakes from the command line', async (t) => {
  const { add, configure, url, masterToken, dataDir } = await shellStack(t)
  await add('test.ok', 'true')
  await add('test.later', `[ -e ${dataDir}/mended ] || { echo "not yet" >&2; exit 1; }`)
  const millrace = async (...args: string[]) => runCli(args, { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken })
  const configuration = {
    phases: [
      { id: 'extract', name: 'Extract', next: [{ goto: 'load' }] },
      { id: 'load', name: 'Load' },
    ],
    tasks: [
      { id: 'e', name: 'read the source', phase: 'extract', task: { type: 'job', componentId: 'test.ok', configData: {} } },
      { id: 'l', name: 'fill the tables', phase: 'load', task: { type: 'job', componentId: 'test.later', configData: {} } },
    ],
  }
  const config = await configure('platform.flow', configuration)

  const failed = await millrace('flow', 'run', config, '--variable', 'day=monday')
  assert.equal(failed.code, 1)
  assert.match(failed.out, /^✖ Flow (\d+) {2}error {2}keboola\.flow \/ /)
  assert.match(failed.out, /├─ ✔ Extract {2}success .*\n│ {2}└─ ✔ read the source {2}success {2}test\.ok {2}job \d+/)
  assert.match(failed.out, /└─ ✖ Load {2}error .*\n {3}└─ ✖ fill the tables {2}error {2}test\.later {2}job \d+.* {2}not yet/)
  assert.match(failed.err, /task read the source: success/)
  const [, id] = /Flow (\d+)/.exec(failed.out)!

  writeFileSync(join(dataDir, 'mended'), '')
  const again = await millrace('flow', 'rerun', id!)
  assert.equal(again.code, 0, again.out + again.err)
  assert.match(again.out, /read the source {2}success {2}test\.ok {2}job \d+ {2}kept/)
  assert.match((await millrace('flow', 'show', id!)).out, /✖ Flow/)
  const only = (await millrace('flow', 'run', config, '--task', 'l', '--json')).json<{
    result: { tasks: { id: string; status: string }[] }
  }>()
  assert.deepEqual(
    only.result.tasks.map((task) => [task.id, task.status]),
    [
      ['e', 'skipped'],
      ['l', 'success'],
    ],
  )

  const file = join(dataDir, 'flow.json')
  writeFileSync(file, JSON.stringify({ phases: [{ id: 'a', next: [{ goto: 'b' }] }], tasks: [] }))
  const bad = await millrace('flow', 'validate', file)
  assert.equal(bad.code, 1)
  assert.match(bad.out, /error {4}phases\[0\]\.next\[0\]\.goto {2}The phase "b" does not exist\./)
  writeFileSync(file, JSON.stringify(configuration))
  assert.equal((await millrace('flow', 'validate', file)).code, 0)
  writeFileSync(file, '{')
  assert.match((await millrace('flow', 'validate', file)).err, /cannot be read as JSON/)
})
