// curlToConfig: a pasted curl command becomes `api` and a job. Credentials are moved to `#` attributes of config, so that they
// are encrypted when the configuration is saved.

import { parametersOf } from '../configuration/configuration.ts'
import { at, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { originOf, parseAddress } from '../http/address.ts'
import { queryParams } from '../http/query.ts'
import { entriesOf, isObject, type JsonObject, type JsonValue, keysOf, objectOf } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import { percentDecode } from '../percent.ts'
import type { ActionDeps } from './action.ts'
import { splitCommand } from './shell-words.ts'

export async function curlToConfig({ file }: ActionDeps): Promise<JsonValue> {
  const curl = textAt(at(parametersOf(file), 'curl'), 'curl')
  if (curl === undefined || curl.trim() === '')
    throw new UserError("The action 'curlToConfig' needs the command in 'curl' in the parameters.")
  return convertCurl(curl)
}

interface CurlCommand {
  url: string | undefined
  method: string | undefined
  readonly headers: [string, string][]
  readonly data: string[]
  json: boolean
  asQuery: boolean
  user: string | undefined
}

type Option = (command: CurlCommand, value: string) => void

const addHeader: Option = (command, value) => {
  const colon = value.indexOf(':')
  if (colon > 0) command.headers.push([value.slice(0, colon).trim(), value.slice(colon + 1).trim()])
}
const addData: Option = (command, value) => {
  if (value.startsWith('@'))
    throw new UserError(`The command reads its data from the file '${value.slice(1)}'. Paste the data itself.`)
  command.data.push(value)
}
const named =
  (name: string): Option =>
  (command, value) =>
    command.headers.push([name, value])

const WITH_VALUE: Readonly<Record<string, Option>> = {
  '-X': (command, value) => {
    command.method = value.toUpperCase()
  },
  '-H': addHeader,
  '-d': addData,
  '-u': (command, value) => {
    command.user = value
  },
  '-A': named('User-Agent'),
  '-e': named('Referer'),
  '-b': named('Cookie'),
  '--url': (command, value) => {
    command.url = value
  },
  '--json': (command, value) => {
    addData(command, value)
    command.json = true
  },
  '--oauth2-bearer': (command, value) => command.headers.push(['Authorization', `Bearer ${value}`]),
  '--data-urlencode': (command, value) => {
    const equals = value.indexOf('=')
    command.data.push(
      equals < 0 ? encodeURIComponent(value) : `${value.slice(0, equals)}=${encodeURIComponent(value.slice(equals + 1))}`,
    )
  },
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  '--request': '-X',
  '--header': '-H',
  '--data': '-d',
  '--data-raw': '-d',
  '--data-binary': '-d',
  '--data-ascii': '-d',
  '--user': '-u',
  '--user-agent': '-A',
  '--referer': '-e',
  '--cookie': '-b',
}

/** Options that change how curl behaves, not what is requested; these take a value. */
const IGNORED_WITH_VALUE = new Set([
  '-o',
  '--output',
  '-m',
  '--max-time',
  '--connect-timeout',
  '--retry',
  '--retry-delay',
  '--max-redirs',
  '-w',
  '--write-out',
  '-c',
  '--cookie-jar',
  '--cacert',
  '-E',
  '--cert',
  '--key',
  '-x',
  '--proxy',
  '--resolve',
  '--limit-rate',
])
const UNSUPPORTED = new Set(['-F', '--form', '-T', '--upload-file', '-K', '--config'])

export function convertCurl(text: string): JsonObject {
  const { api, config, job } = convertRequest(readCommand(text))
  return objectOf([
    ['api', api],
    ['config', objectOf([...entriesOf(config), ['jobs', [job]]])],
  ])
}

/** A request as it was sent: by a command, or in a browser. */
export type PlainRequest = Pick<CurlCommand, 'url' | 'method' | 'headers' | 'data'>

export interface ConvertedRequest {
  readonly api: JsonObject
  /** The attributes that the others refer to. */
  readonly config: JsonObject
  readonly job: JsonObject
}

const PLAIN = { json: false, asQuery: false, user: undefined }

export function convertRequest(request: PlainRequest): ConvertedRequest {
  const command: CurlCommand = { ...PLAIN, ...request }
  if (command.url === undefined) throw new UserError('The command has no address.')
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(command.url) ? command.url : `http://${command.url}`
  const [url, user] = withoutUser(whole)
  command.user ??= user
  const address = parseAddress(url)
  if (!address) throw new UserError(`The address '${command.url}' is not a valid http or https address.`)
  const slash = address.path.lastIndexOf('/') + 1
  const { method, params: given } = requestOf(command, address.query)
  const { params, secrets } = hiddenParams(given)
  const query = method === 'GET' ? '' : address.query === undefined ? '' : `?${address.query}`
  const endpoint = `${address.path.slice(slash)}${query}`
  const job: [string, JsonValue][] = [['endpoint', endpoint === '' ? './' : endpoint]]
  if (method !== 'GET') job.push(['method', method])
  if (keysOf(params).length > 0) job.push(['params', params])
  const { headers, attributes, authentication } = credentialsOf(command)
  const api: [string, JsonValue][] = [['baseUrl', `${originOf(address)}${address.path.slice(0, slash)}`]]
  if (headers.length > 0) api.push(['http', objectOf([['headers', objectOf(headers)]])])
  if (authentication) api.push(['authentication', authentication])
  return { api: objectOf(api), config: objectOf([...attributes, ...secrets]), job: objectOf(job) }
}

/** `https://user:password@host/` is how some write `-u`. */
function withoutUser(url: string): [url: string, user: string | undefined] {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#@]*)@(.*)$/is.exec(url)
  return match ? [match[1]! + match[3]!, percentDecode(match[2]!)] : [url, undefined]
}

const SECRET_PARAM =
  /^(?:(?:api|app|auth|access|secret|private)[-_]?)?(?:key|token|secret|password|passwd|pwd)$|^client[-_]?secret$|^refresh[-_]?token$/i

/** Params that hold a key by their name, as references to attributes. */
function hiddenParams(given: JsonObject): { params: JsonObject; secrets: [string, JsonValue][] } {
  const secrets: [string, JsonValue][] = []
  const params = entriesOf(given).map(([name, value]): [string, JsonValue] => {
    if (!SECRET_PARAM.test(name) || typeof value !== 'string') return [name, value]
    secrets.push([`#${name}`, value])
    return [name, objectOf([['attr', `#${name}`]])]
  })
  return { params: objectOf(params), secrets }
}

function readCommand(text: string): CurlCommand {
  const [program, ...words] = splitCommand(text)
  if (program === undefined || !/(?:^|\/)curl(?:\.exe)?$/.test(program))
    throw new UserError("The command must start with 'curl'.")
  const command: CurlCommand = {
    url: undefined,
    method: undefined,
    headers: [],
    data: [],
    json: false,
    asQuery: false,
    user: undefined,
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (!word.startsWith('-') || word === '-') {
      command.url ??= word
      continue
    }
    const { name, attached } = optionOf(word)
    if (UNSUPPORTED.has(name))
      throw new UserError(
        `The option '${name}' of curl is not supported: the extractor sends GET, POST (JSON) and FORM requests.`,
      )
    if (name === '-G' || name === '--get') command.asQuery = true
    if (name === '-I' || name === '--head') command.method = 'HEAD'
    const option = WITH_VALUE[name]
    if (!option && !IGNORED_WITH_VALUE.has(name)) continue
    const value = attached ?? words[++i]
    if (value === undefined) throw new UserError(`The option '${name}' of curl needs a value.`)
    option?.(command, value)
  }
  return command
}

/** `-XPOST` and `--request=POST` carry their value; `-sSL` is three options that mean nothing to us. */
function optionOf(word: string): { name: string; attached: string | undefined } {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=')
    const long = equals < 0 ? word : word.slice(0, equals)
    return { name: LONG_NAMES[long] ?? long, attached: equals < 0 ? undefined : word.slice(equals + 1) }
  }
  // Letters without a value may stand before one that has a value: -sX POST.
  for (let i = 1; i < word.length; i++) {
    const name = `-${word[i]}`
    if (WITH_VALUE[name] || IGNORED_WITH_VALUE.has(name) || UNSUPPORTED.has(name) || name === '-G' || name === '-I') {
      return { name, attached: i + 1 < word.length ? word.slice(i + 1) : undefined }
    }
  }
  return { name: word, attached: undefined }
}

function requestOf(command: CurlCommand, query: string | undefined): { method: 'GET' | 'POST' | 'FORM'; params: JsonObject } {
  const method = command.method ?? (command.data.length > 0 && !command.asQuery ? 'POST' : 'GET')
  const data = command.data.join('&')
  if (method === 'GET' || command.asQuery) {
    return { method: 'GET', params: objectOf(queryParams(`${query ?? ''}&${data}`)) }
  }
  if (method !== 'POST') throw new UserError(`The method ${method} is not supported. The extractor sends GET and POST requests.`)
  if (data === '') return { method: 'POST', params: objectOf([]) }
  const type = command.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  if (command.json || type.includes('json') || /^\s*\{/.test(data)) return { method: 'POST', params: jsonParams(data) }
  return { method: 'FORM', params: objectOf(queryParams(data)) }
}

function jsonParams(data: string): JsonObject {
  try {
    const parsed = parseJson(data)
    if (isObject(parsed)) return parsed
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
  }
  throw new UserError('The data of the command is not a JSON object, and nothing else can be sent as the body of a POST request.')
}

const SECRET_HEADER = /^(?:authorization|cookie|x-.*(?:token|key|secret|auth).*|.*api-?key.*)$/i
/** Set by the extractor itself, according to the method. */
const OWN_HEADER = /^(?:content-type|content-length|host|connection|accept-encoding)$/i

function credentialsOf(command: CurlCommand) {
  const headers: [string, JsonValue][] = []
  const attributes: [string, JsonValue][] = []
  for (const [name, value] of command.headers) {
    if (OWN_HEADER.test(name)) continue
    if (!SECRET_HEADER.test(name)) {
      headers.push([name, value])
      continue
    }
    const attribute = `#${name.toLowerCase()}`
    attributes.push([attribute, value])
    headers.push([name, objectOf([['attr', attribute]])])
  }
  if (command.user === undefined) return { headers, attributes, authentication: undefined }
  const colon = command.user.indexOf(':')
  attributes.push(['username', colon < 0 ? command.user : command.user.slice(0, colon)])
  attributes.push(['#password', colon < 0 ? '' : command.user.slice(colon + 1)])
  return { headers, attributes, authentication: objectOf([['type', 'basic']]) }
}
