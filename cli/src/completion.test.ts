import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { runCli } from '../../tests/support/run-cli.ts'

const run = promisify(execFile)

const scriptFor = async (shell: string): Promise<string> => {
  const { code, out, err } = await runCli(['completion', shell], {})
  assert.equal(code, 0, err)
  return out
}

test('bash completes commands, their commands and their options', async () => {
  const script = await scriptFor('bash')
  const complete = async (...words: string[]): Promise<string[]> => {
    const asked = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['-c', asked, 'bash', ...words])
    return stdout.split('\n').filter((word) => word !== '')
  }
  assert.deepEqual(await complete('millrace', 'compl'), ['completion'])
  assert.deepEqual(await complete('millrace', 'table', 'exp'), ['export'])
  assert.deepEqual(await complete('millrace', 'restore', '/some/folder', '--ver'), ['--verify'])
  assert.deepEqual(await complete('millrace', 'nothing-like-it', 'tab'), ['table'], 'what is not a command is passed over')
  const all = await complete('millrace', '')
  for (const name of ['table', 'job', 'backup', 'migrate']) assert.ok(all.includes(name), name)
  assert.deepEqual(await complete('millrace', 'backup', ''), ['--with-key', '--json', '--jq', '--jmespath', '--help'])
})

test('every command is in the scripts of zsh and fish, and other shells are named', async () => {
  assert.match(await scriptFor('zsh'), /'\/table'\) words_here='[^']*\bexport\b/)
  const fish = await scriptFor('fish')
  assert.match(fish, /complete -c millrace -n "__millrace_at '\/table'" -a 'export' -d '/)
  assert.match(fish, /complete -c millrace -n "__millrace_at '\/restore'" -l verify -d '/)
  const wrong = await runCli(['completion', 'tcsh'], {})
  assert.notEqual(wrong.code, 0)
  assert.match(wrong.err, /bash, zsh, fish/)
})
