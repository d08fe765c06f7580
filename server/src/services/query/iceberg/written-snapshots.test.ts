import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Segment, TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { emptySnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { KnownManifest } from './iceberg.store.ts'
import { planManifests } from './written-snapshots.ts'

const segment = (key: string, deletes?: string): Segment => ({
  key,
  rows: 10,
  bytes: 100,
  fieldIds: [2],
  minLoadedAt: 0,
  maxLoadedAt: 0,
  deletes: deletes === undefined ? null : { key: deletes, rows: 1, bytes: 10, uriPrefix: 's3://b/' },
})
const state = (id: number, ...segments: Segment[]): { id: number; snapshot: TableSnapshot } => ({
  id,
  snapshot: { ...emptySnapshot([{ name: 'id' }]), segments },
})
const manifest = (id: number, content: KnownManifest['content'], files: Record<string, number>): KnownManifest => ({
  id,
  key: `m${id}`,
  path: `s3://b/m${id}`,
  bytes: 1,
  content,
  sequence: 1,
  minSequence: 1,
  addedFiles: 1,
  addedRows: 1,
  existingFiles: 0,
  existingRows: 0,
  files,
})
const planned = (...asked: Parameters<typeof planManifests>) => {
  const { kept, fresh } = planManifests(...asked)
  const written = fresh.map(({ content, entries }) => [
    content,
    entries.map((one) => `${one.path.slice(7)}@${one.sequence}`).join(),
  ])
  return [kept.map(({ id }) => id), ...written]
}

test('a manifest is kept while all of its files are there; what is left of the others keeps the state it came from', () => {
  const base = [manifest(1, 'data', { a: 1, b: 1 }), manifest(2, 'data', { c: 2 }), manifest(3, 'deletes', { da: 2 })]
  assert.deepEqual(planned(state(5, segment('a', 'da'), segment('b'), segment('c'), segment('d')), base, 's3://b/'), [
    [1, 2, 3],
    ['data', 'd@5'],
  ])
  assert.deepEqual(planned(state(5, segment('a', 'da2'), segment('c')), base, 's3://b/'), [
    [2],
    ['data', 'a@1'],
    ['deletes', 'da2@5'],
  ])
  assert.deepEqual(planned(state(5), base, 's3://b/'), [[]])
})

test('many manifests become one', () => {
  const keys = Array.from({ length: 100 }, (_, i) => `f${i}`)
  const base = keys.map((key, i) => manifest(i, 'data', { [key]: i + 1 }))
  const { kept, fresh } = planManifests(state(200, ...keys.map((key) => segment(key)), segment('new')), base, 's3://b/')
  assert.equal(kept.length, 0)
  assert.deepEqual(
    fresh.map(({ entries }) => [entries.length, entries[0]?.sequence, entries.at(-1)?.sequence]),
    [[101, 1, 200]],
  )
})
