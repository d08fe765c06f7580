// Singer targets: tables of the input mapping as SCHEMA and RECORD messages on the standard input of a program.

import { basename } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { type InputColumn, type InputTable, inputTables, rowsOf } from '../../connector-kit/src/input-table.ts'
import { JSON_NUMBER, rawJSON } from '../../connector-kit/src/json-number.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { parseJson } from '../../manifest-connector/src/python/json.ts'
import { type Dict, isDict } from '../../manifest-connector/src/python/values.ts'
import type { Settings } from './parameters.ts'
import type { Runtime } from './runtime.ts'
import { fileOf, metricOrLog } from './singer.ts'

/** Everything in the input mapping, in the order of the names; the last state that the target has written down. */
export async function writeToTarget(settings: Settings, { folder, work, run, log }: Runtime, stored: Dict): Promise<Dict> {
  const tables = inputTables(folder)
  if (tables.length === 0) throw new ConnectorError('The input mapping has no tables. Add those that the target is to be given.')
  const counts = new Map<string, number>()
  let state: unknown = stored.value
  await run([...settings.command, '--config', fileOf(work, 'config.json', settings.config)], {
    input: messagesOf(tables, counts),
    onError: (line) => metricOrLog(line, log),
    onLine(line) {
      // Targets give back the state that they have stored everything up to.
      try {
        const value = parseJson(line)
        if (isDict(value)) state = value
      } catch {
        log.info(line.slice(0, 500))
      }
    },
  })
  for (const [name, count] of counts) log.info(`Table '${name}': ${counted(count, 'record')}.`)
  return { value: state ?? {} }
}

async function* messagesOf(tables: readonly InputTable[], counts: Map<string, number>): AsyncIterable<string> {
  for (const table of tables) {
    const stream = basename(table.path).replace(/\.csv$/, '')
    const schema = {
      type: 'object',
      properties: Object.fromEntries(table.columns.map((column) => [column.name, typeOf(column)])),
    }
    yield `${JSON.stringify({ type: 'SCHEMA', stream, schema, key_properties: table.primaryKey })}\n`
    let block = ''
    let count = 0
    for await (const cells of rowsOf(table)) {
      const record = Object.create(null) as Dict // a column may be named __proto__
      for (const [i, column] of table.columns.entries()) record[column.name] = parsed(column, cells[i] ?? null)
      block += `${JSON.stringify({ type: 'RECORD', stream, record })}\n`
      count++
      if (block.length < 65_536) continue
      yield block
      block = ''
    }
    counts.set(stream, count)
    yield `${block}${JSON.stringify({ type: 'STATE', value: { bookmarks: { [stream]: { rows: count } } } })}\n`
  }
}

const TYPES: Readonly<Record<InputColumn['base'], Dict>> = {
  STRING: { type: ['null', 'string'] },
  INTEGER: { type: ['null', 'integer'] },
  NUMERIC: { type: ['null', 'number'] },
  FLOAT: { type: ['null', 'number'] },
  BOOLEAN: { type: ['null', 'boolean'] },
  DATE: { type: ['null', 'string'], format: 'date' },
  TIMESTAMP: { type: ['null', 'string'], format: 'date-time' },
}
const typeOf = ({ base }: InputColumn): Dict => TYPES[base]

function parsed({ base }: InputColumn, cell: string | null): unknown {
  if (cell === null || (cell === '' && base !== 'STRING')) return null
  // What is no number of JSON, such as nan, stays a text, which the target can refuse.
  if (base === 'INTEGER' || base === 'NUMERIC' || base === 'FLOAT') return JSON_NUMBER.test(cell) ? rawJSON(cell) : cell
  if (base === 'BOOLEAN') return cell === 'true' || cell === '1'
  return base === 'TIMESTAMP' ? cell.replace(' ', 'T') : cell
}
