// Stands in for dbt where there is no Python: the same arguments, profile, artefacts and exit codes, for a project whose models are in models.json.
// `npm run test:dbt` runs the real one. A model with `run` is JavaScript, as a macro of a hostile project would be.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const pg = createRequire(import.meta.url)('pg')
const args = process.argv.slice(2)
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const command = args.find((arg) => ['build', 'run', 'retry', 'docs', 'deps'].includes(arg))
const project = option('--project-dir')
const target = join(project, 'target')
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const say = (level, msg) => process.stdout.write(`${JSON.stringify({ info: { level, msg } })}\n`)

mkdirSync(target, { recursive: true })
writeFileSync(join(option('--log-path'), 'dbt.log'), `dbt ${args.join(' ')}\n`)
if (command === 'docs') {
  writeFileSync(join(target, 'catalog.json'), JSON.stringify({ nodes: {} }))
  process.exit()
}
const { millrace } = readJson(join(option('--profiles-dir'), 'profiles.yml'))
const { host, port, user, password, dbname, schema } = millrace.outputs[millrace.target]
const client = new pg.Client({ host, port, user, password, database: dbname })
await client.connect()
await client.query(`create schema if not exists ${schema}`)

const models = readJson(join(project, 'models.json'))
const nodes = {}
for (const {
  name,
  alias = name,
  sql,
  depends = [],
  attached,
  severity,
  kind = 'model',
  materialized = 'table',
  file,
} of models) {
  const id = `${kind}.shop.${name}`
  nodes[id] = {
    ...{ name, schema, alias, compiled_code: sql, config: { materialized, severity }, depends_on: { nodes: depends } },
    ...(kind === 'test' && { attached_node: attached, column_name: 'id', test_metadata: { name: 'not_null' }, file }),
  }
}
const sources = { 'source.shop.raw.orders': { schema: 'in.c-raw', name: 'orders', identifier: 'orders' } }
writeFileSync(join(target, 'manifest.json'), JSON.stringify({ nodes, sources }))

const state = option('--state')
const selected = option('--select')
let wanted = Object.keys(nodes)
if (command === 'retry')
  wanted = readJson(join(state, 'run_results.json'))
    .results.filter(({ status }) => ['error', 'skipped', 'fail'].includes(status))
    .map(({ unique_id }) => unique_id)
else if (selected?.startsWith('state:modified+')) {
  const before = readJson(join(state, 'manifest.json')).nodes
  const changed = new Set(wanted.filter((id) => before[id]?.compiled_code !== nodes[id].compiled_code))
  for (const id of wanted) if (nodes[id].depends_on.nodes.some((one) => changed.has(one))) changed.add(id)
  wanted = wanted.filter((id) => changed.has(id))
}
const results = []
const failed = new Set()
for (const { name, alias = name, sql, run, told, kind = 'model', materialized = 'table', severity } of models) {
  const id = `${kind}.shop.${name}`
  if (!wanted.includes(id)) continue
  const result = { unique_id: id, status: 'success', execution_time: 0.25, adapter_response: {}, message: null, failures: null }
  result.timing = [{ name: 'execute', started_at: new Date().toISOString() }]
  results.push(result)
  if (nodes[id].depends_on.nodes.some((one) => failed.has(one))) {
    Object.assign(result, { status: 'skipped' })
    failed.add(id)
    continue
  }
  try {
    if (run)
      say(
        'info',
        String(
          await new Function('require', 'client', `return (async () => { ${run} })()`)(createRequire(import.meta.url), client),
        ),
      )
    if (kind === 'test') {
      const { rows } = await client.query(`select count(*) as failures from (${sql}) q`)
      const failures = Number(rows[0].failures)
      const bad = severity === 'warn' ? 'warn' : 'fail'
      Object.assign(result, { failures, status: failures === 0 ? 'pass' : bad })
      if (failures > 0) result.message = `Got ${failures} results, configured to fail if != 0`
      if (failures > 0 && told) result.message += `, told ${new Function(told)()}`
      if (result.status === 'fail') failed.add(id)
    } else {
      await client.query(`drop ${materialized === 'view' ? 'view' : 'table'} if exists ${schema}."${alias}" cascade`)
      const { rowCount } = await client.query(
        `create ${materialized === 'view' ? 'view' : 'table'} ${schema}."${alias}" as ${sql}`,
      )
      result.adapter_response = materialized === 'view' ? {} : { rows_affected: rowCount }
    }
    say('info', `${result.status} ${id}`)
  } catch (error) {
    Object.assign(result, { status: 'error', message: `Database Error in model ${name}\n  ${error.message}` })
    failed.add(id)
    say('error', result.message)
  }
}
await client.end()
writeFileSync(join(target, 'run_results.json'), JSON.stringify({ results, args: { which: command } }))
process.exit(failed.size > 0 ? 1 : 0)
