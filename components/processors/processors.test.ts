import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { childEnvironment } from '../../tests/support/child-environment.ts'
import { zip } from '../../tests/support/zip.ts'
import { UserError } from '../http-extractor/src/errors.ts'
import { formatter, readRecords } from './src/csv.ts'
import { openFolder } from './src/folder.ts'
import { PROCESSORS } from './src/registry.ts'

type Tree = Record<string, string | Buffer | object>

const MAIN = fileURLToPath(new URL('./src/main.ts', import.meta.url))
const SHARED = ['../connector-kit/src', '../http-extractor/src', '../../contract'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
/** Where compiled code is kept; the platform gives its programs such a folder too. */
const { NODE_COMPILE_CACHE: COMPILED } = childEnvironment()

interface Ended {
  readonly status: number | null
  readonly stderr: string
}

/** Runs a processor and answers what is in `out`. */
async function run(
  t: TestContext,
  processor: string,
  parameters: unknown,
  input: Tree,
  start = process.env.MILLRACE_LONG ? asProgram : asFunction,
) {
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-processor-')))
  t.after(() => rmSync(data, { recursive: true }))
  for (const path of ['in/tables', 'in/files', 'out/tables', 'out/files']) mkdirSync(join(data, path), { recursive: true })
  writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters }))
  for (const [path, content] of Object.entries(input)) {
    mkdirSync(dirname(join(data, 'in', path)), { recursive: true })
    const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content)
    writeFileSync(join(data, 'in', path), bytes)
  }
  const { status, stderr } = await start(processor, data)
  return { status, stderr: stderr.trim(), out: readTree(join(data, 'out')) }
}

/** As the platform does, limited to its folder and what components share. */
function asProgram(processor: string, data: string): Ended {
  const writable = [data, ...(COMPILED === undefined ? [] : [COMPILED])]
  const flags = [
    '--permission',
    ...[dirname(MAIN), ...SHARED, ...writable].map((folder) => `--allow-fs-read=${folder}/*`),
    ...writable.map((folder) => `--allow-fs-write=${folder}/*`),
  ]
  return spawnSync(process.execPath, [...flags, MAIN, processor], {
    env: { ...childEnvironment(), KBC_DATADIR: `${data}/` },
    encoding: 'utf8',
  })
}

/** In this process: to start one takes longer than the work of most. */
async function asFunction(processor: string, data: string): Promise<Ended> {
  try {
    await PROCESSORS[processor]!(await openFolder(data))
    return { status: 0, stderr: '' }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { status: 1, stderr: error.message }
  }
}

function readTree(root: string): Record<string, unknown> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(
    paths.map((path) => {
      const bytes = readFileSync(path)
      const name = path.slice(root.length + 1)
      if (name.endsWith('.manifest')) return [name, JSON.parse(bytes.toString())]
      return [name, name.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString('latin1')]
    }),
  )
}

async function passes(
  t: TestContext,
  processor: string,
  parameters: unknown,
  input: Tree,
  expected: Record<string, unknown>,
): Promise<void> {
  const { status, stderr, out } = await run(t, processor, parameters, input)
  assert.equal(stderr, '')
  assert.equal(status, 0)
  assert.deepEqual(out, expected)
}

async function fails(t: TestContext, processor: string, parameters: unknown, input: Tree, message: RegExp): Promise<void> {
  const { status, stderr } = await run(t, processor, parameters, input)
  assert.match(stderr, message)
  assert.equal(status, 1)
}

test('create-manifest takes columns from the header and leaves the data alone', async (t) => {
  const input = { 'tables/a.csv': 'id;na me;\n1;x;y\n', 'files/keep.txt': 'k' }
  await passes(t, 'create-manifest', { delimiter: ';', columns_from: 'header', primary_key: ['id'], incremental: true }, input, {
    'files/keep.txt': 'k',
    'tables/a.csv': 'id;na me;\n1;x;y\n',
    'tables/a.csv.manifest': {
      delimiter: ';',
      enclosure: '"',
      columns: ['id', 'na me', 'col_3'],
      primary_key: ['id'],
      incremental: true,
    },
  })
})

test('create-manifest reads a slice, makes up names, and keeps what a manifest already says', async (t) => {
  const input = { 'tables/a/1': '1,2\n', 'tables/a.manifest': { destination: 'in.c-x.y' } }
  await passes(t, 'create-manifest', { columns_from: 'auto' }, input, {
    'tables/a/1': '1,2\n',
    'tables/a.manifest': {
      destination: 'in.c-x.y',
      delimiter: ',',
      enclosure: '"',
      columns: ['col_1', 'col_2'],
      incremental: false,
    },
  })
})

test('skip-lines removes physical lines from the top of tables, slices and files', async (t) => {
  const input = { 'tables/a.csv': 'h\n1\n2\n', 'tables/b/1': 'h\n3', 'tables/b.manifest': {}, 'files/f': 'x\ny' }
  await passes(t, 'skip-lines', { lines: 1 }, input, {
    'files/f': 'y',
    'tables/a.csv': '1\n2\n',
    'tables/b.manifest': {},
    'tables/b/1': '3',
  })
})

test('skip-lines removes lines from the bottom, with or without a line end at the end', async (t) => {
  const long = 'x'.repeat(100_000)
  const input = { 'tables/a.csv': `${long}\n1\n2\n`, 'files/f': 'x\ny', 'files/short': 'one' }
  await passes(t, 'skip-lines', { lines: 1, direction_from: 'bottom' }, input, {
    'files/f': 'x\n',
    'files/short': '',
    'tables/a.csv': `${long}\n1\n`,
  })
})

test('move-files moves to the other side without manifests', async (t) => {
  const input = { 'files/a': '1', 'files/a.manifest': {}, 'files/d/b': '2', 'tables/t.csv': '3' }
  await passes(t, 'move-files', { direction: 'tables', addCsvSuffix: true }, input, {
    'tables/a.csv': '1',
    'tables/d/b.csv': '2',
    'tables/t.csv': '3',
  })
  await passes(
    t,
    'move-files',
    { direction: 'tables', folder: 'all' },
    { 'files/a': '1', 'files/b': '2' },
    { 'tables/all/a': '1', 'tables/all/b': '2' },
  )
  await passes(t, 'move-files', { direction: 'files' }, input, {
    'files/a': '1',
    'files/a.manifest': {},
    'files/d/b': '2',
    'files/t.csv': '3',
  })
})

test('move-files never overwrites', async (t) => {
  await fails(
    t,
    'move-files',
    { direction: 'tables' },
    { 'files/a': '1', 'tables/a': '2' },
    /Two results would have the name tables\/a/,
  )
})

test('decompress unpacks each kind into a folder named like the archive', async (t) => {
  const input = {
    'files/a.csv.gz': gzipSync('gz'),
    'files/b.zip': zip({ 'one.txt': 'first', 'deep/two.txt': 'second'.repeat(100) }),
    'files/c.zlib': deflateSync('zl'),
    // A raw snappy block: 6 bytes, the literal "ab", then a copy of 4 from 2 back.
    'files/d.snappy': Buffer.from([6, 0x04, 0x61, 0x62, 0x01, 0x02]),
  }
  await passes(t, 'decompress', {}, input, {
    'files/a.csv.gz/a.csv': 'gz',
    'files/b.zip/deep/two.txt': 'second'.repeat(100),
    'files/b.zip/one.txt': 'first',
    'files/c.zlib/c': 'zl',
    'files/d.snappy/d': 'ababab',
  })
})

test('decompress refuses what is damaged or climbs out, and leaves it out when graceful', async (t) => {
  await fails(t, 'decompress', {}, { 'files/a.gz': 'not gzip' }, /a\.gz could not be unpacked/)
  await fails(t, 'decompress', {}, { 'files/a.zip': zip({ '../../escape': 'x' }) }, /outside of the archive/)
  await fails(t, 'decompress', {}, { 'files/a.zip': 'PK' }, /a\.zip could not be unpacked/)
  await fails(t, 'decompress', {}, { 'files/a.bin': 'x' }, /names no compression/)
  await passes(
    t,
    'decompress',
    { graceful: true },
    { 'files/a.gz': 'no', 'files/b.gz': gzipSync('yes') },
    { 'files/b.gz/b': 'yes' },
  )
})

test('flatten-folders joins paths so that two never meet', async (t) => {
  const input = { 'files/a/b.csv': '1', 'files/a/x-y/z': '2', 'files/plain-name': '3', 'tables/t/u/v': '4' }
  await passes(t, 'flatten-folders', {}, input, {
    'files/a-b.csv': '1',
    'files/a-x--y-z': '2',
    'files/plain-name': '3',
    'tables/t-u-v': '4',
  })
  await passes(t, 'flatten-folders', { starting_depth: 1 }, { 'tables/t/u/v': '4' }, { 'tables/t/u-v': '4' })
  await fails(t, 'flatten-folders', {}, { [`files/${'a'.repeat(200)}/${'b'.repeat(200)}`]: '1' }, /more than 255 characters/)
})

test('add-row-number-column counts on from slice to slice', async (t) => {
  const input = { 'tables/a/1': '"x"\n"y"\n', 'tables/a/2': '"z"\n', 'tables/a.manifest': { columns: ['v'] } }
  await passes(t, 'add-row-number-column', {}, input, {
    'tables/a.manifest': { columns: ['v', 'row_number'] },
    'tables/a/1': '"x","1"\n"y","2"\n',
    'tables/a/2': '"z","3"\n',
  })
  await fails(t, 'add-row-number-column', {}, { 'tables/a.csv': '1\n' }, /a\.csv needs a manifest with its columns/)
})

test('add-filename-column appends the name of the file', async (t) => {
  const input = {
    'tables/ž.csv': '"a\nb"\n',
    'tables/ž.csv.manifest': { schema: [{ name: 'v', data_type: { base: { type: 'STRING' } } }] },
  }
  await passes(t, 'add-filename-column', { column_name: 'from' }, input, {
    'tables/ž.csv': `"a\nb","${Buffer.from('ž.csv').toString('latin1')}"\n`,
    'tables/ž.csv.manifest': { schema: [{ name: 'v', data_type: { base: { type: 'STRING' } } }, { name: 'from' }] },
  })
})

test('add-metadata adds to the manifests of named tables', async (t) => {
  const input = {
    'tables/a.csv': '1',
    'tables/a.csv.manifest': {
      metadata: [
        { key: 'k', value: 'old' },
        { key: 'l', value: 'm' },
      ],
    },
  }
  await passes(t, 'add-metadata', { tables: [{ table: 'a.csv', metadata: [{ key: 'k', value: 'new' }] }] }, input, {
    'tables/a.csv': '1',
    'tables/a.csv.manifest': {
      metadata: [
        { key: 'l', value: 'm' },
        { key: 'k', value: 'new' },
      ],
    },
  })
  await fails(t, 'add-metadata', { tables: [{ table: 'b', metadata: [] }] }, input, /Table b does not exist/)
})

test('filter-files keeps what matches, with its manifest', async (t) => {
  const input = {
    'tables/a.csv': '1',
    'tables/a.csv.manifest': {},
    'tables/b.txt': '2',
    'files/d/x.csv': '3',
    'files/d/y.txt': '4',
  }
  await passes(t, 'filter-files', { mask: '*.csv' }, input, {
    'files/d/x.csv': '3',
    'tables/a.csv': '1',
    'tables/a.csv.manifest': {},
  })
  await passes(t, 'filter-files', { mask: 'b.txt' }, input, { 'tables/b.txt': '2' })
})

test('rename-headers renames in the manifest, or in the header line', async (t) => {
  const input = {
    'tables/a.csv': '"id","x"\n"id","1"\n',
    'tables/bb': '1\n',
    'tables/bb.manifest': { columns: ['id', 'y'], primary_key: ['id'] },
  }
  await passes(t, 'rename-headers', { a: { column_mapping: { id: 'key' } }, 'b*': { column_mapping: { id: 'key' } } }, input, {
    'tables/a.csv': '"key","x"\n"id","1"\n',
    'tables/bb': '1\n',
    'tables/bb.manifest': { columns: ['key', 'y'], primary_key: ['key'] },
  })
})

test('select-columns keeps the named columns in the given order', async (t) => {
  const input = { 'tables/a/1': '1,2,3\n', 'tables/a.manifest': { columns: ['a', 'b', 'c'] } }
  await passes(t, 'select-columns', { columns: ['c', 'a'] }, input, {
    'tables/a.manifest': { columns: ['c', 'a'] },
    'tables/a/1': '"3","1"\n',
  })
  await fails(t, 'select-columns', { columns: ['q'] }, input, /no column "q". It has: a, b, c/)
})

test('format-csv rewrites the dialect named in the manifest', async (t) => {
  const input = { 'tables/a.csv': "'x;1';2\n", 'tables/a.csv.manifest': { delimiter: ';', enclosure: "'" } }
  await passes(t, 'format-csv', { delimiterTo: ',', enclosureTo: '"' }, input, {
    'tables/a.csv': '"x;1","2"\n',
    'tables/a.csv.manifest': { delimiter: ',', enclosure: '"' },
  })
  await fails(t, 'format-csv', { delimiterTo: ',', enclosureTo: '"' }, { 'tables/a.csv': '1' }, /no manifest/)
})

test('orthogonal fills short records up to the widest', async (t) => {
  const input = { 'tables/a/1': '1\n', 'tables/a/2': '1,2,3\n', 'tables/a.manifest': { columns: ['x'] } }
  await passes(t, 'orthogonal', {}, input, {
    'tables/a.manifest': { columns: ['x', 'auto_col_2', 'auto_col_3'] },
    'tables/a/1': '"1","",""\n',
    'tables/a/2': '"1","2","3"\n',
  })
})

test('split-table makes slices and moves the header to the manifest', async (t) => {
  await passes(
    t,
    'split-table',
    { mode: 'rows', rowsPerSlice: 2 },
    { 'tables/a.csv': 'h\n1\n2\n3\n' },
    {
      'tables/a.csv.manifest': { columns: ['h'] },
      'tables/a.csv/part000001.csv.gz': '"1"\n"2"\n',
      'tables/a.csv/part000002.csv.gz': '"3"\n',
    },
  )
  await passes(
    t,
    'split-table',
    { mode: 'bytes', bytesPerSlice: '4B', gzip: false },
    { 'tables/a': '1\n2\n', 'tables/a.manifest': { columns: ['h'] } },
    {
      'tables/a.manifest': { columns: ['h'] },
      'tables/a/part000001.csv': '"1"\n',
      'tables/a/part000002.csv': '"2"\n',
    },
  )
})

test('split-table makes no more slices than asked for, though it adds quotes', async (t) => {
  const columns = { columns: ['a'] }
  await passes(
    t,
    'split-table',
    { mode: 'slices', numberOfSlices: 2, minBytesPerSlice: 1, gzip: false },
    { 'tables/a.csv': '0\n1\n2\n3\n4\n', 'tables/a.csv.manifest': columns },
    {
      'tables/a.csv/part000001.csv': '"0"\n"1"\n',
      'tables/a.csv/part000002.csv': '"2"\n"3"\n"4"\n',
      'tables/a.csv.manifest': columns,
    },
  )
})

test('iconv writes no character that the encoding lacks', async (t) => {
  const plain = { source_encoding: 'UTF-8', on_error: 'transliterate' }
  await passes(t, 'iconv', { ...plain, target_encoding: 'ASCII' }, { 'files/a': 'č€' }, { 'files/a': 'c?' })
  await passes(t, 'iconv', { ...plain, target_encoding: 'ISO-8859-1' }, { 'files/a': 'č€é' }, { 'files/a': 'c?\xe9' })
  await fails(
    t,
    'iconv',
    { source_encoding: 'UTF-8', target_encoding: 'ASCII' },
    { 'files/a': '€' },
    /"€", which ASCII cannot write/,
  )
})

test('iconv re-encodes, and says what it could not', async (t) => {
  const latin = Buffer.from('caf\u00e9', 'latin1')
  await passes(
    t,
    'iconv',
    { source_encoding: 'ISO-8859-1' },
    { 'files/a': latin, 'files/a.manifest': {} },
    {
      'files/a': Buffer.from('café').toString('latin1'),
      'files/a.manifest': {},
    },
  )
  await passes(t, 'iconv', { source_encoding: 'UTF-8', target_encoding: 'CP1250' }, { 'files/a': 'žlu' }, { 'files/a': '\x9elu' })
  await passes(
    t,
    'iconv',
    { source_encoding: 'UTF-8', target_encoding: 'windows-1252', on_error: 'transliterate' },
    { 'files/a': 'ř☃' },
    { 'files/a': 'r?' },
  )
  await passes(t, 'iconv', { source_encoding: 'UTF-8', on_error: 'ignore' }, { 'files/a': latin }, { 'files/a': 'caf' })
  await fails(t, 'iconv', { source_encoding: 'UTF-8' }, { 'files/a': latin }, /not valid UTF-8/)
  await fails(t, 'iconv', { source_encoding: 'klingon' }, { 'files/a': latin }, /"klingon" is not known/)
})

test('last-file keeps the newest file with the tag, under its name', async (t) => {
  const manifest = (id: number, created: string, tags = ['daily']) => ({ id, created, tags })
  const input = {
    'files/1_a': 'old',
    'files/1_a.manifest': manifest(1, '2026-01-01T00:00:00+0000'),
    'files/2_b': 'new',
    'files/2_b.manifest': manifest(2, '2026-01-02T00:00:00+0000'),
    'files/3_c': 'other',
    'files/3_c.manifest': manifest(3, '2026-01-03T00:00:00+0000', []),
  }
  await passes(t, 'last-file', { tag: 'daily' }, input, {
    'files/daily': 'new',
    'files/daily.manifest': manifest(2, '2026-01-02T00:00:00+0000'),
  })
})

test('the small ones: empty tables, empty files, NUL bytes, line ends', async (t) => {
  await passes(
    t,
    'create-empty-table',
    {
      tables: [
        { tableName: 'a', columns: ['x', 'y'] },
        { tableName: 'b', columns: ['x'] },
      ],
    },
    { 'tables/b': 'kept' },
    {
      'tables/a': '"x","y"\n',
      'tables/b': 'kept',
    },
  )
  await passes(
    t,
    'remove-empty-files-and-folders',
    { remove_files_with_whitespace: true },
    { 'files/a': ' \n', 'files/b': '', 'tables/c/1': 'x', 'tables/c/2': '' },
    {
      'tables/c/1': 'x',
    },
  )
  await passes(t, 'strip-null', {}, { 'files/a': 'a\0b' }, { 'files/a': 'ab' })
  await passes(t, 'line-endings', {}, { 'files/a': 'a\r\nb\rc\r' }, { 'files/a': 'a\nb\nc\n' })
})

test('every processor the platform describes is here', () => {
  const described = JSON.parse(
    readFileSync(new URL('../../server/src/services/configuration/components/builtin/processors.json', import.meta.url), 'utf8'),
  ) as { name: string }[]
  assert.deepEqual(
    described.map(({ name }) => name).filter((name) => !(name in PROCESSORS)),
    [],
  )
})

test('the program says how it ended by its exit code, and what the user can mend on standard error', async (t) => {
  const good = await run(t, 'move-files', { direction: 'tables' }, { 'files/a': '1' }, asProgram)
  assert.deepEqual(good, { status: 0, stderr: '', out: { 'tables/a': '1' } })
  const wrong = await run(t, 'skip-lines', {}, {}, asProgram)
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /^The parameter "lines" is missing/)
  const unknown = await run(t, 'nothing', {}, {}, asProgram)
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /Processor "nothing" does not exist/)
})

test('a wrong parameter is named', async (t) => {
  await fails(t, 'skip-lines', {}, {}, /parameter "lines" is missing/)
  await fails(t, 'skip-lines', { lines: -1 }, {}, /"lines" must be a whole number from 0, not -1/)
  await fails(t, 'skip-lines', { lines: 1, colour: 'red' }, {}, /Unknown parameter "colour"/)
  await fails(t, 'move-files', { direction: 'up' }, {}, /"direction" must be one of tables, files, not "up"/)
})

test('any table written in any dialect is read back equal', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-processor-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.csv')
  const cell = fc
    .oneof(fc.string(), fc.constantFrom('', '"', "'", ',', ';', '\n', '\r\n', 'a"b', '\u00ff'))
    .map((text) => Buffer.from(text).toString('latin1'))
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 20 })
  const dialect = fc.constantFrom(
    { delimiter: ',', enclosure: '"' },
    { delimiter: ';', enclosure: "'" },
    { delimiter: '\t', enclosure: '"' },
  )
  await fc.assert(
    fc.asyncProperty(table, dialect, async (records, one) => {
      writeFileSync(path, records.map(formatter(one)).join(''), 'latin1')
      const read: string[][] = []
      for await (const batch of readRecords(path, one)) for (const record of batch) read.push([...record])
      assert.deepEqual(read, records)
    }),
    { numRuns: process.env.MILLRACE_LONG ? 5_000 : 500 },
  )
})
