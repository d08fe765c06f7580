// The form of each operation at /docs that sends its request to this stack: what the script needs of an operation, and the script.
// The token is in the memory of the page only, no cookie is sent, and responses are shown as text.

import { type DocumentedRoute, exampleBody, exampleOf, type Parameter, parametersOf, pathOf } from '../../../http/openapi.ts'

interface Field {
  readonly name: string
  readonly in: Exclude<Parameter['in'], 'body'>
  readonly required: boolean
  /** What a required one begins with. */
  readonly example?: string
}

export interface TryRequest {
  readonly method: string
  /** With `{names}` of its fields. */
  readonly path: string
  readonly token: 'X-StorageApi-Token' | 'X-KBC-ManageApiToken' | null
  readonly fields: readonly Field[]
  /** `json`: a text to edit. `form`: members, of which `data` is a file. `file`: the bytes of a file. */
  readonly body?: { readonly kind: 'json' | 'form' | 'file'; readonly example: string; readonly members: readonly string[] }
}

export function tryRequest(route: DocumentedRoute): TryRequest {
  const parameters = parametersOf(route)
  const fields = parameters.flatMap(({ name, in: place, required, schema }): Field[] =>
    place === 'body' ? [] : [{ name, in: place, required, ...(required && { example: textOf(exampleOf(schema)) }) }],
  )
  const members = parameters.filter((parameter) => parameter.in === 'body').map(({ name }) => name)
  return { method: route.method, path: pathOf(route), token: tokenOf(route), fields, ...bodyOf(route, members) }
}

function tokenOf({ needs }: DocumentedRoute): TryRequest['token'] {
  if (needs === 'nothing') return null
  return needs === 'person' ? 'X-KBC-ManageApiToken' : 'X-StorageApi-Token'
}

function bodyOf(route: DocumentedRoute, members: readonly string[]): Pick<TryRequest, 'body'> {
  if (route.form) return { body: { kind: 'form', example: '', members } }
  if (route.isStream || route.isRaw) return route.method === 'GET' ? {} : { body: { kind: 'file', example: '', members: [] } }
  if (members.length === 0) return {}
  return { body: { kind: 'json', example: JSON.stringify(exampleBody(route), undefined, 2), members } }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Adds the form to an operation when it is opened for the first time. The page is whole without it. */
export const TRY_SCRIPT = `
const MAX_SHOWN = 200000
const token = document.querySelector('#token')
// Shown on the documentation site only: the stack that requests, and tokens, are sent to.
const stack = document.querySelector('#stack')
token.parentElement.hidden = false
const element = (name, members = {}, ...children) => {
  const made = Object.assign(document.createElement(name), members)
  made.append(...children)
  return made
}
const label = (text, input) => element('label', {}, element('span', { className: 'quiet' }, text), input)

async function textOf(response) {
  let shown = ''
  const decoder = new TextDecoder()
  if (response.body)
    for (const reader = response.body.getReader(); shown.length < MAX_SHOWN; ) {
      const { value, done } = await reader.read()
      if (done) return shown + decoder.decode()
      shown += decoder.decode(value, { stream: true })
    }
  await response.body?.cancel()
  return shown.slice(0, MAX_SHOWN) + (response.body ? '\\n(The rest is not shown.)' : '')
}

function formOf(details) {
  const request = JSON.parse(details.dataset.request)
  const fields = request.fields.map((field) => ({ ...field, input: element('input', { value: field.example ?? '', required: field.required }) }))
  const { kind, example, members = [] } = request.body ?? {}
  const text = kind === 'json' && element('textarea', { value: example, rows: Math.min(20, example.split('\\n').length + 1) })
  const file = kind === 'file' && element('input', { type: 'file' })
  const parts = kind === 'form' ? members.map((name) => ({ name, input: element('input', { type: name === 'data' ? 'file' : 'text' }) })) : []
  const send = element('button', {}, 'Send ' + request.method)
  const stop = element('button', { type: 'button', hidden: true }, 'Cancel')
  const output = element('pre', { hidden: true })
  output.setAttribute('role', 'status')
  const form = element('form', {},
    ...fields.map(({ name, in: place, required, input }) => label(name + ' (' + place + (required ? ', required)' : ')'), input)),
    ...parts.map(({ name, input }) => label(name + ' (form)', input)),
    ...(text ? [label('Body (JSON)', text)] : []), ...(file ? [label('Body (file)', file)] : []), send, ' ', stop, output)
  const show = (shown) => Object.assign(output, { textContent: shown, hidden: false })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const given = (place) => fields.filter((field) => field.in === place && field.input.value !== '')
    const path = request.path.replace(/\\{(\\w+)\\}/g, (_, name) => encodeURIComponent(fields.find((field) => field.in === 'path' && field.name === name)?.input.value ?? '').replaceAll('%2F', name === 'path' ? '/' : '%2F'))
    const base = stack.parentElement.hidden ? location.href : stack.value.trim().replace(/\\/*$/, '/')
    if (!URL.canParse(base)) return show('Enter the address of your stack above, such as http://127.0.0.1:8000.')
    const url = new URL('.' + path, base)
    for (const { name, input } of given('query')) url.searchParams.append(name, input.value)
    const headers = Object.fromEntries(given('header').map(({ name, input }) => [name, input.value]))
    if (request.token && token.value) headers[request.token] = token.value.trim()
    let body
    if (text && text.value.trim()) {
      headers['content-type'] = 'application/json'
      body = text.value
    }
    if (file && file.files[0]) body = file.files[0]
    if (parts.length > 0) {
      body = new FormData()
      for (const { name, input } of parts) if (input.files?.[0] || input.value) body.append(name, input.files?.[0] ?? input.value)
    }
    const running = new AbortController()
    stop.onclick = () => running.abort()
    send.disabled = true
    stop.hidden = false
    show('Waiting for the response ...')
    const from = performance.now()
    try {
      const response = await fetch(url, { method: request.method, headers, body, credentials: 'omit', signal: running.signal })
      const content = await textOf(response)
      let pretty = content
      try { pretty = JSON.stringify(JSON.parse(content), undefined, 2) } catch {}
      show(response.status + ' ' + response.statusText + ', ' + Math.round(performance.now() - from) + ' ms, ' + (response.headers.get('content-type') ?? 'no content') + '\\n\\n' + pretty)
    } catch (error) {
      const hint = stack.parentElement.hidden ? '' : '. The stack has to run at this address and to allow this page: MILLRACE_CORS_ORIGINS=' + location.origin
      show(running.signal.aborted ? 'Cancelled.' : 'The request failed: ' + error.message + hint)
    }
    send.disabled = false
    stop.hidden = true
  })
  return form
}
document.addEventListener('toggle', ({ target }) => {
  if (target.open && target.dataset?.request && !target.querySelector('form')) target.append(formOf(target))
}, true)
`
