// suggest: the first answer of a job, and how to read the rest by it: where the items are, how pages follow, what identifies
// an item, its columns and their types, how to request changes only. Each with its reason, and as a configuration to start from.

import { at, objectAt } from '../configuration/read.ts'
import { guessColumns, guessIncrement, guessPrimaryKey, mappingOf } from '../guess/columns.ts'
import { guessed } from '../guess/guess.ts'
import { guessDataField } from '../guess/items.ts'
import { guessPagination } from '../guess/pagination.ts'
import { entriesOf, isArray, isEmpty, isObject, type JsonObject, type JsonValue, keysOf, objectOf } from '../json/json.ts'
import type { ActionDeps } from './action.ts'
import { describeRequest, fetchFirstPage } from './first-page.ts'

export async function suggest(deps: ActionDeps): Promise<JsonValue> {
  const { job, index, fetched, exchanges, configuration } = await fetchFirstPage(deps)
  const { response, headers } = fetched
  const found = guessDataField(response)
  const items = found?.items ?? []
  const sent = keysOf(job.params)
  const pagination = guessPagination({ response, headers, itemCount: items.length, dataField: found?.value ?? '', sent })
  const key = guessPrimaryKey(items)
  const increment = guessIncrement(items, sent)
  const nothing = 'The response has no items to learn from.'
  return objectOf([
    ['request', describeRequest(exchanges.at(-1)!.request)],
    ['dataField', guessed(found, nothing)],
    [
      'pagination',
      guessed(
        pagination,
        'Nothing in the response names a next page: it may be the only one, or the documentation of the API says more.',
      ),
    ],
    [
      'primaryKey',
      guessed(
        key && { ...key, value: [...key.value] },
        items.length === 0 ? nothing : 'No column looks like an id and is different in all items.',
      ),
    ],
    ['incremental', guessed(increment, items.length === 0 ? nothing : 'No column says when an item changed.')],
    ['columns', guessColumns(items).map((column) => ({ ...column }))],
    ['mapping', mappingOf(items, key?.value)],
    [
      'parameters',
      withGuesses(configuration.parameters, index, {
        ...(found ? { dataField: found.value } : {}),
        ...(pagination ? { pagination: pagination.value } : {}),
        ...(key ? { primaryKey: { type: job.dataType, columns: [...key.value] } } : {}),
      }),
    ],
  ])
}

interface Guesses {
  readonly dataField?: string
  readonly pagination?: JsonObject
  readonly primaryKey?: { readonly type: string; readonly columns: JsonValue[] }
}

/** The configuration with what was found; existing values stay. */
function withGuesses(parameters: JsonObject, index: number, { dataField, pagination, primaryKey }: Guesses): JsonObject {
  const api = objectAt(at(parameters, 'api'), 'api')
  const config = objectAt(at(parameters, 'config'), 'config')
  const jobs = at(config, 'jobs')
  const under = (object: JsonObject, key: string, value: JsonValue | undefined) =>
    value === undefined || !isEmpty(at(object, key)) ? object : objectOf([...entriesOf(object), [key, value]])
  const list = isArray(jobs) ? jobs : []
  const completed = list.map((job, i) =>
    i === index && isObject(job) && dataField !== undefined && dataField !== '.' ? under(job, 'dataField', dataField) : job,
  )
  const isMapped = primaryKey !== undefined && at(at(config, 'mappings'), primaryKey.type) !== undefined
  const keys = primaryKey && !isMapped ? objectOf([[primaryKey.type, primaryKey.columns]]) : undefined
  return objectOf([
    ['api', under(api, 'pagination', pagination)],
    ['config', under(objectOf([...entriesOf(config), ['jobs', completed]]), 'primaryKey', keys)],
  ])
}
