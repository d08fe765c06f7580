import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { openEnvironment } from '../src/environment.ts'

/** Makes a folder as `uv venv` does; installing takes a moment, and it records what it was to install. */
const UV = `#!/bin/sh
case "$1 $2" in
  "venv "*) mkdir -p "$4/bin" ;;
  "pip install") sleep 0.3; for last; do :; done; echo "$last" > "$(dirname "$4")/installed" ;;
  "pip freeze") cat "$(dirname "$4")/installed" ;;
esac
`

test('runs at the same time share one environment, and the ones used last are kept', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-environment-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const programs: Readonly<Record<string, string>> = { uv: UV, python3: '#!/bin/sh\necho 3.13.0\n' }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), text)
    await chmod(join(folder, name), 0o755)
  }
  const { PATH = '' } = process.env
  process.env.PATH = [folder, PATH].join(delimiter)
  t.after(() => {
    process.env.PATH = PATH
  })
  const place = join(folder, 'environments')
  const open = (name: string) => openEnvironment(place, [name], [], () => {})
  const [one, two] = await Promise.all([open('tap==1'), open('tap==1')])
  assert.deepEqual([one, two], [{ bin: one.bin, locked: ['tap==1'] }, one])
  assert.equal((await readdir(place)).length, 2, 'a link and what it leads to')
  assert.deepEqual((await open('tap==2')).locked, ['tap==2'])
  assert.deepEqual((await open('tap==3')).locked, ['tap==3'])
  assert.equal((await readdir(place)).length, 4)
  assert.equal((await open('tap==3')).bin, (await open('tap==3')).bin)
})
