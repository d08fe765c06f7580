// `npm run prove` and the document that is made from its reports.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { conformanceDocument } from '../tools/conformance-doc.ts'
import { AREAS } from '../tools/prove-areas.ts'
import { htmlReport, type ProofReport } from '../tools/prove-report.ts'
import { listTestFiles } from '../tools/test-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const report = (more: Partial<ProofReport> = {}): ProofReport => ({
  version: '1.0.0',
  commit: 'abc',
  startedAt: '2026-11-18T07:00:00.000Z',
  minutes: 60,
  seed: 5,
  machine: { system: 'linux 6.1-x', node: 'v24.0.0', cores: 2, processor: 'a & b', memoryGiB: 16 },
  rounds: [
    { area: 'faults', seed: 5, isCut: false, files: [{ file: 'a.test.ts', ms: 1, passed: 3, skipped: ['x'], failures: [] }] },
    {
      area: 'faults',
      seed: 6,
      isCut: true,
      files: [{ file: 'a.test.ts', ms: 1, passed: 2, skipped: [], failures: [{ name: '<b>', error: '1 < 2' }] }],
    },
  ],
  passed: 5,
  counts: { kills: 7, requests: 100, hours: 50 },
  failures: [{ file: 'a.test.ts', test: '<b>', error: '1 < 2', seed: 6, command: 'MILLRACE_SEED=6 npm test -- a.test.ts' }],
  ...more,
})

test('every area has test files, and every fault and fuzz test is in an area that is repeated', () => {
  const files = listTestFiles(ROOT, {}).map(({ path }) => path)
  const inArea = (path: string, words: readonly string[]) => words.some((word) => path.includes(word))
  for (const { id, words } of AREAS)
    for (const word of words)
      assert.ok(
        files.some((path) => path.includes(word)),
        `${id}: ${word}`,
      )
  const repeated = AREAS.filter(({ isRepeated }) => isRepeated).flatMap(({ words }) => words)
  assert.deepEqual(
    files.filter((path) => /(^|\/)(faults|fuzz)\/|\.faults\.test/.test(path) && !inArea(path, repeated)),
    [],
  )
})

test('the document has the newest result of each area and a line for every run, which later calls keep', () => {
  const first = conformanceDocument('', [report()])
  assert.match(
    first,
    /^\| Faults \| .* \| 1 \| 5 \| 1 \| 1 \| 2026-11-18 \(abc\) \| `npm test -- tests\/faults \.faults\.test` \|$/m,
  )
  assert.match(
    first,
    /^\| 2026-11-18 07:00 \| abc \| 60 \| 5 \| 7 \| 100 \| 50 \| 5 \| 1 \| 2 cores, 16 GiB, Node v24\.0\.0 \|$/m,
  )
  const files = [{ file: 'b.test.ts', ms: 1, passed: 4, skipped: [], failures: [] }]
  const rounds = [{ area: 'iceberg', seed: 5, isCut: false, files }]
  const later = report({
    startedAt: '2026-11-19T07:00:00.000Z',
    commit: 'def',
    rounds,
    failures: [],
    counts: { kills: 3, requests: 1, hours: 8 },
  })
  const second = conformanceDocument(first, [later])
  assert.match(second, /^2 recorded runs: 10 processes killed, 101 random requests sent, 58 hours simulated\.$/m)
  assert.match(second, /^\| Iceberg \| .*2026-11-19 \(def\)/m)
  assert.match(second, /^\| Faults \| .*2026-11-18 \(abc\)/m)
  const [whole] = later.rounds
  const cut = report({ ...later, startedAt: '2026-11-20T07:00:00.000Z', commit: 'ghi', rounds: [{ ...whole!, isCut: true }] })
  assert.match(conformanceDocument(second, [cut]), /^\| Iceberg \| .*2026-11-19 \(def\)/m)
  assert.equal(conformanceDocument(second, []), second)
  assert.equal(conformanceDocument(second, [later]), second)
})

test('the page names failures with the command that repeats them, as text', () => {
  const page = htmlReport(report())
  assert.match(page, /MILLRACE_SEED=6 npm test -- a\.test\.ts/)
  assert.match(page, /&#60;b&#62;/)
  assert.doesNotMatch(page, /<b>|a & b/)
})

test('a seed gives the same chances in every process, and another seed others', () => {
  const chances = (seed: string) =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        "const { chance } = await import('./tests/support/chance.ts'); console.log(chance(), chance())",
      ],
      { cwd: ROOT, env: { ...process.env, MILLRACE_SEED: seed }, encoding: 'utf8' },
    ).stdout
  assert.equal(chances('7'), chances('7'))
  assert.notEqual(chances('7'), chances('8'))
  for (const each of chances('7').trim().split(' ')) assert.ok(Number(each) >= 0 && Number(each) < 1, each)
})

test('prove writes a report and refuses what it does not know', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-prove-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const prove = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'tools/prove.ts'), '--report', folder, ...args], { cwd: ROOT, encoding: 'utf8' })
  assert.match(prove('--only', 'nothing').stderr, /--only nothing: there are api, /)
  assert.match(prove('--minutes', 'x').stderr, /--minutes x: write a number above 0/)
  assert.equal(prove('--only', 'iceberg', '--minutes', '0.0001', '--seed', '9').status, 0)
  const written = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as ProofReport
  assert.deepEqual([written.seed, written.failures, written.passed], [9, [], 0])
})
