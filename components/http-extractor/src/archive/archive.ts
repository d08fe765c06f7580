// An archive of exchanges: one JSON line per request and its answer, in the order they happened. Written by `config.record`,
// read by `--replay`, and the format in which the examples of the test suite and of docs/extractor.md are written.
//
//   {"request":{"method":"GET","url":"https://api.example.com/users?page=1","headers":{"Accept":"*/*"}},
//    "response":{"status":200,"headers":{"content-type":"application/json"},"body":[{"id":1}]}}
//
// A body is text, or any other JSON value when it was written by hand (then its JSON text is meant), or `bodyBase64`.

import { UserError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import { shownRequest } from '../http/confidential.ts'
import type { HttpRequest, HttpResponse } from '../http/exchange.ts'
import { entriesOf, isObject, type JsonObject, type JsonValue, memberOf } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'

export interface RecordedRequest {
  readonly method: string
  readonly url: string
  /** Those that must be sent; others may be. A value of null: must not be sent. Lower-case names. */
  readonly headers: readonly (readonly [string, string | null])[]
  readonly body: string | undefined
}

export interface RecordedExchange {
  readonly request: RecordedRequest
  readonly response: HttpResponse
  /** When the run began, in milliseconds; of the first exchange. */
  readonly began: number | undefined
}

/** Signed with the time or a random number: never the same twice. */
const VOLATILE = /^(?:AWS4-HMAC-SHA256|OAuth|MAC) /

/** Line ends to readers that look for more than LF; JSON allows them inside a text as they are. */
const SEPARATORS = /[\u2028\u2029]/g
const oneLine = (json: string) => json.replace(SEPARATORS, (c) => (c === '\u2028' ? '\\u2028' : '\\u2029'))

/** `began`: when the run began, in milliseconds, for its first exchange. */
export function exchangeLine(exchanged: HttpRequest, response: HttpResponse, began?: number): string {
  const request = shownRequest(exchanged)
  const headers = [...request.headers.values()].filter(
    ([name, value]) => name.toLowerCase() !== 'x-amz-date' && !VOLATILE.test(value),
  )
  const text = response.body.toString('utf8')
  const isText = Buffer.from(text, 'utf8').equals(response.body)
  const exchange = {
    request: {
      method: request.method,
      url: addressText(request.address),
      headers: Object.fromEntries(headers),
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    response: {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
      ...(isText ? { body: text } : { bodyBase64: response.body.toString('base64') }),
    },
    ...(began === undefined ? {} : { began }),
  }
  return oneLine(JSON.stringify(exchange))
}

/** `name` is where the text comes from, for messages. */
export function parseArchive(text: string, name: string): RecordedExchange[] {
  return text
    .split('\n')
    .map((line, i) => ({ line: line.trim(), where: `${name}, line ${i + 1}` }))
    .filter(({ line }) => line !== '')
    .map(({ line, where }) => readExchange(line, where))
}

function readExchange(line: string, where: string): RecordedExchange {
  let value: JsonValue
  try {
    value = parseJson(line)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new UserError(`The archive is not readable: ${error.message} (${where}).`)
  }
  const request = isObject(value) ? memberOf(value, 'request') : undefined
  const response = isObject(value) ? memberOf(value, 'response') : undefined
  if (!isObject(request) || !isObject(response))
    throw new UserError(`The archive is not readable: a line needs "request" and "response" (${where}).`)
  const began = Number(textOf(isObject(value) ? memberOf(value, 'began') : undefined))
  return {
    request: readRequest(request),
    response: readResponse(response),
    began: Number.isSafeInteger(began) ? began : undefined,
  }
}

const textOf = (value: JsonValue | undefined) =>
  value === undefined ? undefined : typeof value === 'string' ? value : exactJson(value)
const headersOf = (object: JsonObject) => {
  const headers = memberOf(object, 'headers')
  return isObject(headers) ? entriesOf(headers) : []
}

function readRequest(request: JsonObject): RecordedRequest {
  return {
    method: textOf(memberOf(request, 'method')) ?? 'GET',
    url: textOf(memberOf(request, 'url')) ?? '',
    headers: headersOf(request).map(
      ([name, value]) => [name.toLowerCase(), value === null ? null : (textOf(value) ?? '')] as const,
    ),
    body: textOf(memberOf(request, 'body')),
  }
}

function readResponse(response: JsonObject): HttpResponse {
  const packed = memberOf(response, 'bodyBase64')
  const status = memberOf(response, 'status')
  return {
    status: status === undefined ? 200 : Number(String(status)),
    statusText: textOf(memberOf(response, 'statusText')) ?? '',
    headers: Object.fromEntries(headersOf(response).map(([name, value]) => [name.toLowerCase(), textOf(value) ?? ''])),
    body: typeof packed === 'string' ? Buffer.from(packed, 'base64') : Buffer.from(textOf(memberOf(response, 'body')) ?? ''),
  }
}
