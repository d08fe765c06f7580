import assert from 'node:assert/strict'
import test from 'node:test'
import { type Mapping, readMapping, type TableManifestContent } from './mapping.ts'
import { type OutputContext, planFiles, planTables, type Result } from './output-plan.ts'

const CONTEXT: OutputContext = {
  componentId: 'acme.ex-one',
  configurationId: '12',
  rowId: 'r1',
  branchId: 5,
  runId: '77',
  defaultBucket: true,
  bucketComponentId: 'acme.ex-one',
  defaultBucketStage: 'in',
  dataTypesSupport: 'none',
  now: new Date('2026-01-10T00:00:00Z'),
}
const result = (name: string, more: Partial<Result<TableManifestContent>> = {}): Result<TableManifestContent> => ({
  name,
  path: `/data/out/tables/${name}`,
  slices: undefined,
  header: ['id', 'name'],
  manifest: undefined,
  ...more,
})
const mapped = (...tables: object[]): Mapping => readMapping({ output: { tables } })
const plan = (results: readonly Result<TableManifestContent>[], mapping = readMapping({}), context = CONTEXT) =>
  planTables(results, mapping, context)
const refused = (work: () => unknown, message: RegExp) =>
  assert.throws(
    work,
    (error: { code?: string; message: string }) => message.test(error.message) && error.code?.startsWith('jobRunner.') === true,
  )

test('a table goes where the mapping says, else the manifest, else the default bucket', () => {
  const destinations = (results: readonly Result<TableManifestContent>[], mapping?: Mapping) =>
    plan(results, mapping).loads.map(({ destination }) => destination)
  assert.deepEqual(
    destinations(
      [result('a.csv', { manifest: { destination: 'in.c-m.x' } })],
      mapped({ source: 'a.csv', destination: 'out.c-m.y' }),
    ),
    ['out.c-m.y'],
  )
  assert.deepEqual(destinations([result('a.csv', { manifest: { destination: 'in.c-m.x' } })]), ['in.c-m.x'])
  assert.deepEqual(destinations([result('a.csv', { manifest: { destination: 'short' } })]), ['in.c-acme-ex-one-12.short'])
  assert.deepEqual(destinations([result('in.c-m.named.csv')]), ['in.c-m.named'])
  assert.deepEqual(destinations([result('orders.csv')]), ['in.c-acme-ex-one-12.orders'])
  assert.deepEqual(destinations([result('orders.csv')], readMapping({ output: { default_bucket: 'out.c-own' } })), [
    'out.c-own.orders',
  ])
})

test('a file name with two dots is a place only when it begins with a stage', () => {
  const placeOf = (name: string) => planTables([result(name)], mapped(), CONTEXT).loads[0]!.destination
  assert.equal(placeOf('in.c-main.orders.csv'), 'in.c-main.orders')
  assert.match(placeOf('x.csv.gz-x.csv'), /^in\.c-.*\.x_csv_gz-x$/)
})

test('a table without a place is refused with what to do', () => {
  refused(
    () => plan([result('a.csv')], readMapping({}), { ...CONTEXT, defaultBucket: false }),
    /no default bucket. Set a destination/,
  )
  refused(() => plan([result('a.csv')], readMapping({}), { ...CONTEXT, configurationId: null }), /named after the configuration/)
  refused(() => plan([result('a.csv', { manifest: { destination: 'half.id' } })]), /neither a table id/)
})

test('every mapped source must be there, and all missing ones are named', () => {
  refused(
    () =>
      plan([result('a.csv')], mapped({ source: 'b.csv', destination: 'in.c-m.b' }, { source: 'c.csv', destination: 'in.c-m.c' })),
    /did not write: b\.csv, c\.csv/,
  )
})

test('two results never go to one table', () => {
  refused(
    () =>
      plan([
        result('a.csv', { manifest: { destination: 'in.c-m.X' } }),
        result('b.csv', { manifest: { destination: 'in.c-m.x' } }),
      ]),
    /a\.csv and b\.csv would both be stored/,
  )
})

test('the mapping wins over the manifest, but not by what it only assumes', () => {
  const manifest = {
    incremental: true,
    delimiter: ';',
    primary_key: ['id'],
    metadata: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ],
  }
  const entry = {
    source: 'a.csv',
    destination: 'in.c-m.x',
    incremental: false,
    delimiter: ',',
    primary_key: [],
    metadata: [{ key: 'b', value: '3' }],
  }
  const [load] = plan([result('a.csv', { manifest })], mapped(entry)).loads
  assert.deepEqual([load!.incremental, load!.delimiter, load!.primaryKey], [true, ';', ['id']])
  assert.deepEqual(load!.metadata, [
    { key: 'a', value: '1' },
    { key: 'b', value: '3' },
  ])
})

test('a file has a header unless its columns are named', () => {
  assert.equal(plan([result('a.csv')]).loads[0]!.hasHeader, true)
  assert.equal(plan([result('a.csv', { header: undefined, manifest: { columns: ['a'] } })]).loads[0]!.hasHeader, false)
  assert.equal(
    plan([result('a.csv', { header: undefined, manifest: { columns: ['a'], has_header: true } })]).loads[0]!.hasHeader,
    true,
  )
})

test('a sliced table needs columns', () => {
  refused(
    () => plan([result('a', { slices: ['/s1'], header: undefined })]),
    /folder of slices, so its manifest or mapping must name its columns/,
  )
  assert.deepEqual(
    plan([result('a', { slices: ['/s1', '/s2'], header: undefined, manifest: { columns: ['x'] } })]).loads[0]!.files,
    ['/s1', '/s2'],
  )
})

test('column names are made storable, with a warning that says how', () => {
  const { loads, warnings } = plan([
    result('a.csv', { header: ['user.name', '_id_', 'Příliš', 'ok', 'Straße', 'xmin'], manifest: { primary_key: ['_id_', ''] } }),
  ])
  assert.deepEqual(loads[0]!.columns, ['user_name', 'id', 'Prilis', 'ok', 'Strasse', 'xmin_'])
  assert.deepEqual(loads[0]!.primaryKey, ['id'])
  assert.match(warnings.join('\n'), /"user\.name" of a\.csv is stored as "user_name"/)
  for (const more of [
    { header: ['_TimeStamp'] },
    { manifest: { columns: ['_timestamp'] } },
    { manifest: { column_metadata: { _TIMESTAMP: [{ key: 'k', value: 'v' }] } } },
    { manifest: { schema: [{ name: '_timestamp' }] } },
  ])
    refused(() => plan([result('a.csv', more)]), /reserved/)
})

test('a description is said once, of the table and of each column', () => {
  const description = { 'KBC.description': 'twice' }
  const table = { description: 'once', table_metadata: description }
  refused(() => plan([result('a.csv', { manifest: table })]), /both "description" and "KBC\.description" in table_metadata/)
  const schema = [{ name: 'id', description: 'once', metadata: description }]
  refused(() => plan([result('a.csv', { manifest: { schema } })]), /column "id" of a\.csv has both/)
})

test('types are base types, and where they count every column has one', () => {
  const planned = (column: object, support: OutputContext['dataTypesSupport'] = 'hints') =>
    plan([result('a.csv', { manifest: { schema: [{ name: 'id', ...column }] } })], undefined, {
      ...CONTEXT,
      dataTypesSupport: support,
    })
  refused(() => planned({ data_type: { base: { type: 'VARCHAR' } } }), /base type "VARCHAR", which is not one of STRING, INTEGER/)
  refused(() => planned({ data_type: { snowflake: { type: 'VARCHAR' } } }), /column "id" of a\.csv has no data_type\.base/)
  assert.equal(planned({}).loads[0]!.schema, undefined)
  refused(() => planned({}, 'authoritative'), /has no data_type\.base/)
  refused(
    () => plan([result('a.csv')], undefined, { ...CONTEXT, dataTypesSupport: 'authoritative' }),
    /its manifest must have a "schema"/,
  )
})

test('a file without a header needs names for its columns', () => {
  refused(() => plan([result('a.csv', { manifest: { has_header: false } })]), /a\.csv has no header and has no columns/)
})

test('a plain file may be mapped several times, a sliced one once', () => {
  const twice = [
    { source: 'a', destination: 'in.c-m.one' },
    { source: 'a', destination: 'in.c-m.two', incremental: true },
  ]
  assert.deepEqual(
    plan([result('a')], mapped(...twice)).loads.map(({ destination, incremental }) => [destination, incremental]),
    [
      ['in.c-m.one', false],
      ['in.c-m.two', true],
    ],
  )
  refused(
    () => plan([result('a', { slices: ['/s1'], manifest: { columns: ['x'] } })], mapped(...twice)),
    /sliced table a is mapped 2 times/,
  )
})

test('metadata of tables and columns in the mapping adds to that of the manifest', () => {
  const item = (key: string, value: string) => ({ key, value })
  const [load] = plan(
    [
      result('a', {
        manifest: {
          table_metadata: { a: 1, b: 2 },
          column_metadata: { id: [item('k', '1'), item('l', '1')], name: [item('k', '1')] },
        },
      }),
    ],
    mapped({ source: 'a', destination: 'in.c-m.x', table_metadata: { b: 3 }, column_metadata: { id: [item('k', '2')] } }),
  ).loads
  assert.deepEqual(load!.metadata, [item('a', '1'), item('b', '3')])
  assert.deepEqual(load!.columnMetadata, { id: [item('k', '2'), item('l', '1')], name: [item('k', '1')] })
})

test('a typed manifest gives columns and key, and types only to who is authoritative', () => {
  const schema = [
    { name: 'id', primary_key: true, nullable: false, data_type: { base: { type: 'integer' } } },
    { name: 'at', description: 'when', data_type: { base: { type: 'TIMESTAMP', length: 6 } } },
  ]
  const results = [result('a.csv', { header: undefined, manifest: { schema } })]
  const [plain] = plan(results).loads
  assert.deepEqual([plain!.columns, plain!.primaryKey, plain!.schema], [['id', 'at'], ['id'], undefined])
  const [hinted] = plan(results, readMapping({}), { ...CONTEXT, dataTypesSupport: 'hints' }).loads
  assert.deepEqual(hinted!.columnMetadata.at, [
    { key: 'KBC.datatype.basetype', value: 'TIMESTAMP' },
    { key: 'KBC.datatype.length', value: '6' },
    { key: 'KBC.description', value: 'when' },
  ])
  const [typed] = plan(results, readMapping({}), { ...CONTEXT, dataTypesSupport: 'authoritative' }).loads
  assert.deepEqual(typed!.schema, [
    { name: 'id', baseType: 'INTEGER', length: undefined, nullable: false, default: undefined },
    { name: 'at', baseType: 'TIMESTAMP', length: '6', nullable: true, default: undefined },
  ])
  refused(() => plan([result('a.csv', { manifest: { schema, columns: ['id'] } })]), /both "schema" and "columns"/)
})

test('delete rules are read in both forms, and one without a condition is refused', () => {
  const rules = (manifest: TableManifestContent) => plan([result('a.csv', { manifest })]).loads[0]!
  assert.deepEqual(rules({ delete_where_column: 'c', delete_where_values: ['1', 2] }).deleteWhere, [
    { changedSince: undefined, changedUntil: undefined, filters: [{ column: 'c', operator: 'eq', values: ['1', '2'] }] },
  ])
  const deferred = rules({
    delete_where: [
      {
        changed_since: '-1 day',
        where_filters: [{ column: 'c', operator: 'ne', values_from_storage: { bucket_id: 'in.c-m', table: 't' } }],
      },
    ],
  })
  assert.equal(deferred.deleteWhere[0]!.changedSince, Date.parse('2026-01-09T00:00:00Z'))
  assert.deepEqual(deferred.deferredFilters, [
    { rule: 0, column: 'c', operator: 'ne', tableId: 'in.c-m.t', fromColumn: undefined },
  ])
  refused(() => rules({ delete_where: [{}] }), /no condition/)
  refused(() => rules({ delete_where_column: 'c' }), /needs delete_where_values/)
  refused(() => rules({ delete_where: [{ where_filters: [{ column: 'c' }] }] }), /exactly one of/)
})

test('files carry the tags of their manifest or mapping, and those of the system', () => {
  const files = [
    { name: 'a', path: '/a', slices: undefined, header: undefined, manifest: { tags: ['m'], is_public: true } },
    { name: 'b', path: '/b', slices: undefined, header: undefined, manifest: { tags: ['ignored'] } },
  ]
  const [a, b] = planFiles(files, [{ source: 'b', tags: ['mapped'] }], CONTEXT)
  const system = ['componentId: acme.ex-one', 'configurationId: 12', 'configurationRowId: r1', 'branchId: 5', 'runId: 77']
  assert.deepEqual(a!.tags, ['m', ...system])
  assert.equal(a!.isPublic, true)
  assert.deepEqual(b!.tags, ['mapped', ...system])
})

const WRONG_MAPPINGS: readonly [object, RegExp][] = [
  [{ input: { tables: [{}] } }, /storage\.input\.tables\[0\]\.source is missing/],
  [{ input: { tables: [{ source: 'a', where_column: 'x' }] } }, /where_column and where_values must be given together/],
  [{ input: { tables: [{ source: 'a', days: 2, changed_since: '-1 day' }] } }, /days and changed_since exclude each other/],
  [{ input: { tables: [{ source: 'a', columns: ['a'], column_types: [{ source: 'b' }] }] } }, /different columns: b, a/],
  [{ input: { tables: 'x' } }, /storage\.input/],
  [{ input: { files: [{}] } }, /one of tags, source\.tags, query and file_ids is required/],
  [{ input: { files: [{ tags: ['a'], source: { tags: [{ name: 'b' }] } }] } }, /exclude each other/],
  [{ output: { tables: [{ source: 'a', destination: 'nowhere' }] } }, /must be a whole table id/],
  [{ output: { tables: [{ destination: 'in.c-m.x' }] } }, /storage\.output\.tables\[0\]\.source is missing/],
  [{ output: { tables: [{ unload_strategy: 'direct-grant' }] } }, /unload_strategy "direct-grant" is for results in a workspace/],
  [
    { output: { tables: [{ source: 'a', deduplication_strategy: 'replace' }] } },
    /tables\[0\]\.deduplication_strategy must be one of "insert", "upsert"/,
  ],
  [{ output: { default_bucket: 'main' } }, /default_bucket "main" must be a whole bucket id/],
  [{ output: { table_modifications: 'some' } }, /table_modifications must be one of "none", "non-destructive", "all"/],
]
for (const [storage, message] of WRONG_MAPPINGS) {
  test(`a mapping is refused by name: ${JSON.stringify(storage).slice(0, 70)}`, () =>
    refused(() => readMapping(storage), message))
}

test('empty mappings of PHP clients are empty', () => {
  for (const storage of [undefined, [], {}, { input: [] }, { input: { tables: [] }, output: [] }])
    assert.deepEqual(readMapping(storage).inputTables, [])
})

test('a column that marks deleted rows is a field of the file and not a column of the table', () => {
  const schema = ['id', 'gone'].map((name) => ({ name, data_type: { base: { type: 'STRING' } } }))
  const manifest = { schema, has_header: false, deleted_rows_column: 'gone' }
  const context = { ...CONTEXT, dataTypesSupport: 'authoritative' } as const
  const [load] = plan([result('a.csv', { manifest })], undefined, context).loads
  assert.deepEqual([load?.columns, load?.schema?.map(({ name }) => name), load?.deletedColumn], [['id', 'gone'], ['id'], 'gone'])
  refused(
    () => plan([result('a.csv', { manifest: { deleted_rows_column: 'lost' } })]),
    /"lost", which is not a column of the file/,
  )
})
