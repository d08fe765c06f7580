// A tap as a small program of the test: its catalog, and what a run writes.

/** `body` runs with `say` (a message), `config`, `state` and `catalog`. */
export const tap = (body: string, streams: readonly object[] = STREAMS): string[] => [
  process.execPath,
  '-e',
  `const { readFileSync } = require('node:fs')
   const arg = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : process.argv[at + 1] }
   const file = (name) => arg(name) && JSON.parse(readFileSync(arg(name), 'utf8'))
   const config = file('--config'), state = file('--state'), catalog = file('--catalog')
   const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
   if (process.argv.includes('--discover')) { process.stdout.write(JSON.stringify({ streams: ${JSON.stringify(streams)} }, null, 2)) }
   else { ${body} }`,
  '--', // what follows is the program's
]

export const SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: ['null', 'string'] },
    price: { type: 'number' },
    at: { type: 'string', format: 'date-time' },
    tags: { type: 'array' },
  },
}

export const STREAMS = [
  {
    tap_stream_id: 'orders',
    stream: 'orders',
    schema: SCHEMA,
    metadata: [
      { breadcrumb: [], metadata: { 'table-key-properties': ['id'], 'valid-replication-keys': ['at'], inclusion: 'available' } },
      { breadcrumb: ['properties', 'name'], metadata: { inclusion: 'available' } },
    ],
  },
  {
    tap_stream_id: 'people',
    stream: 'people',
    schema: { type: 'object', properties: { id: { type: 'integer' } } },
    key_properties: [],
    metadata: [],
  },
]
