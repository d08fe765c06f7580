// First pages of long lists, and the search by a word, in a project of 100,000 jobs, 10,000 tables, 10,000 configurations with 20,000 rows
// and 10,000 files, on SQLite and on PostgreSQL. The ratio is the slowest median against 100 ms, on PostgreSQL against 150 ms.

import { freshPostgres } from '../tests/support/fresh-databases.ts'
import { startTestStack, type TestStack } from '../tests/support/test-stack.ts'
import { fillLargeProject, HTTP } from './support/large-project.ts'
import { median, report } from './support/measure.ts'

const ROUNDS = 15
const SEARCHED = ['table', 'column', 'configuration', 'row', 'content', 'file']
const WORDS = ['customer-77', 'Orders', 'warehouse/9999', 'nothing-like-this', 'e']

const LISTS: Readonly<Record<string, string>> = {
  jobs: '/queue/jobs',
  lightJobs: '/queue/jobs?fields=id,status,component,config,startTime,durationMs,usual,cause',
  failedJobs: '/queue/search/jobs?status=error&limit=100',
  jobsOfConfiguration: '/queue/jobs?component=keboola.ex-generic-v2&config=shop-77',
  jobCounts: '/queue/stats/statuses',
  failures: '/queue/search/failures',
  tables: '/v2/storage/tables?limit=100',
  lightTables: '/v2/storage/tables?limit=100&fields=id,name,rowsCount',
  configurations: `/v2/storage/components/${HTTP}/configs?limit=100`,
  lightConfigurations: `/v2/storage/components/${HTTP}/configs?limit=100&fields=id,name,version`,
  files: '/v2/storage/files?limit=100',
}

async function measure(stack: TestStack, paths: Readonly<Record<string, string>>): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now()
      const answer = await stack.request('GET', path)
      times.push(performance.now() - begun)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
    }
    figures[name] = Math.round(median(times.slice(1)) * 10) / 10
  }
  return figures
}

const kinds = SEARCHED.map((kind) => `kinds[]=${kind}`).join('&')
const searches = Object.fromEntries(WORDS.map((word) => [word, `/v2/storage/search?text=${encodeURIComponent(word)}&${kinds}`]))

for (const [database, max] of [
  ['sqlite', 100],
  ['postgres', 150],
] as const) {
  const ends: (() => unknown)[] = []
  const fresh = database === 'postgres' ? await freshPostgres() : undefined
  const location = fresh && { databaseUrl: (fresh.location as { url: string }).url }
  const stack = await startTestStack({ after: (end) => ends.push(end) }, location)
  await fillLargeProject(stack)
  for (const [bench, paths] of [
    ['lists', LISTS],
    ['search', { ...searches, everything: '/v2/storage/search?text=customer' }],
  ] as const) {
    const milliseconds = await measure(stack, paths)
    report({
      bench: `${bench}-${database}`,
      ratio: Math.max(...Object.values(milliseconds)) / max,
      target: '<= 1',
      milliseconds,
    })
  }
  for (const end of ends) await end()
  await fresh?.remove()
}
process.exit(0)
