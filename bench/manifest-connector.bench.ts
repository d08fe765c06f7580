// A declarative manifest into a table (platform.ex-manifest) against a plain script that fetches, parses and writes CSV, and against the HTTP
// extractor, over the same 100 pages of the same API. Processor seconds, since they are the same on a busy machine.
// MANIFEST_RECORDS changes the size of the runs (100,000).

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, median, type NodeRun, report, round, runNode, startBare } from './support/measure.ts'

const ROUNDS = 3
const records = Number(process.env.MANIFEST_RECORDS ?? 100_000)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const api = await startBare('extractor-api.ts', String(records))

const manifest = {
  version: '6.1.0',
  type: 'DeclarativeSource',
  check: { type: 'CheckStream', stream_names: ['items'] },
  streams: [
    {
      type: 'DeclarativeStream',
      name: 'items',
      primary_key: 'id',
      retriever: {
        type: 'SimpleRetriever',
        requester: { type: 'HttpRequester', url_base: api.url, path: 'items' },
        record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor', field_path: ['items'] } },
        paginator: {
          type: 'DefaultPaginator',
          page_token_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'since' },
          pagination_strategy: {
            type: 'CursorPagination',
            cursor_value: "{{ last_record['id'] }}",
            stop_condition: '{{ last_page_size < 1000 }}',
          },
        },
      },
      incremental_sync: {
        type: 'DatetimeBasedCursor',
        cursor_field: 'created_at',
        datetime_format: '%Y-%m-%dT%H:%M:%SZ',
        start_datetime: '2024-01-01T00:00:00Z',
      },
    },
  ],
}
const extractor = {
  api: { baseUrl: api.url, pagination: { method: 'cursor', idKey: 'id', param: 'since' } },
  config: { jobs: [{ endpoint: 'items', dataType: 'items', dataField: 'items', params: { since: 0 } }] },
}

const cpu: Record<string, number[]> = {}
const peak: Record<string, number> = {}
async function measured(name: string, run: (folder: string) => Promise<NodeRun>, result: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'manifest-bench-'))
  try {
    mkdirSync(join(folder, 'in'))
    const figures = await run(folder)
    if (statSync(join(folder, result)).size < records * 50) throw new Error(`${name} wrote too little.`)
    cpu[name] = [...(cpu[name] ?? []), figures.cpuSeconds]
    peak[name] = Math.max(peak[name] ?? 0, figures.mib)
    return figures.seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const component = (program: string, parameters: object) => (folder: string) => {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ parameters }))
  return runNode([pathOf(program)], { KBC_DATADIR: folder })
}

await inTurns(ROUNDS, {
  script: () =>
    measured('script', (folder) => runNode([pathOf('support/extractor-script.ts'), `${api.url}items`, folder]), 'items.csv'),
  manifest: () =>
    measured('manifest', component('../components/manifest-connector/src/main.ts', { manifest }), 'out/tables/items.csv'),
  extractor: () => measured('extractor', component('../components/http-extractor/src/main.ts', extractor), 'out/tables/items'),
})
const [script, ours, theirs] = ['script', 'manifest', 'extractor'].map((name) => median(cpu[name] ?? []))
report({
  bench: 'manifest-connector',
  ratio: ours! / script!,
  target: '<= 2',
  records,
  scriptCpuSeconds: round(script!),
  manifestCpuSeconds: round(ours!),
  extractorCpuSeconds: round(theirs!),
  overExtractor: round(ours! / theirs!),
  peakMib: Math.round(peak.manifest ?? 0),
})
await api.stop()
