// From the body of an answer to a value (jobs[].responseType): JSON unless a job sets otherwise. What XML and CSV give is a value like
// any other: data fields, filters, pagination and tables work on it in the same way.

import { at, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isObject, type JsonValue } from '../json/json.ts'
import { decodeCsv } from './csv.ts'
import { decodeXml } from './xml.ts'

/** Throws a DecodeError when the body is not what it should be. */
export type Decode = (body: Buffer) => Promise<JsonValue>

const RESPONSE_TYPES = ['json', 'xml', 'csv'] as const

export const responseTypeSchema = {
  description: 'The format of the answers.',
  anyOf: [
    { type: 'string', enum: RESPONSE_TYPES, default: 'json' },
    {
      type: 'object',
      properties: {
        type: { type: 'string', enum: RESPONSE_TYPES },
        delimiter: { type: 'string', default: ',', description: 'Separates the cells of a CSV; \\t for a tabulator.' },
      },
    },
  ],
} as const

/** Undefined for JSON, which the client reads itself. The libraries for the others are loaded with the first answer. */
export function readResponseType(value: JsonValue | undefined, path: string): Decode | undefined {
  if (isObject(value) && at(value, 'type') === undefined)
    throw new UserError(`Invalid configuration: '${path}' has no 'type'. Set it to one of ${RESPONSE_TYPES.join(', ')}.`)
  const type = textAt(isObject(value) ? at(value, 'type') : value, path, 'json').toLowerCase()
  if (type === 'json') return undefined
  if (type === 'xml') return decodeXml
  if (type !== 'csv')
    throw new UserError(`Invalid configuration: '${path}' must be one of ${RESPONSE_TYPES.join(', ')}, given '${type}'.`)
  const delimiter = textAt(at(value, 'delimiter'), `${path}.delimiter`, ',')
  return (body) => decodeCsv(body, delimiter)
}
