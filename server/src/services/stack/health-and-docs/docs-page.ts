// The API as a readable page, from the same routes as the OpenAPI document: what is built first, each operation with its parameters and
// a request to copy and a form that sends it.

import { escapeHtml, htmlPage } from '../../../http/html-page.ts'
import { type DocumentedRoute, isBuilt, type Parameter, parametersOf, pathOf, tagOf } from '../../../http/openapi.ts'
import { TAGS } from '../../../http/openapi-tags.ts'
import { curlExample } from './curl-example.ts'
import { TRY_SCRIPT, tryRequest } from './try-form.ts'

/** Narrows the page to the operations that contain every word; the groups left empty disappear. The page is whole without it. */
const FILTER_SCRIPT = `
const input = document.querySelector('#filter')
input.hidden = false
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\\s+/)
  for (const section of document.querySelectorAll('section')) {
    for (const one of section.querySelectorAll('details')) one.hidden = !words.every((word) => one.dataset.words.includes(word))
    section.hidden = !section.querySelector('details:not([hidden])')
  }
})
`

/** All that runs on the page; its policy names the hash. */
export const DOCS_SCRIPT = FILTER_SCRIPT + TRY_SCRIPT

export function docsPage(routes: readonly DocumentedRoute[], baseUrl: string): string {
  const built = routes.filter(isBuilt)
  const names = [...new Set(built.map(tagOf))].sort()
  const link = (name: string) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`
  return htmlPage(
    'Millrace API',
    `<main>
<h1>Millrace API</h1>
<p class="quiet">${built.length} operations at <code>${escapeHtml(baseUrl)}</code>. Requests carry the token in <code>X-StorageApi-Token</code>; bodies may be JSON or forms.
Below <code>/v2/storage/branch/{branch}/</code> the same addresses mean another branch. The same as <a href="/openapi.json">OpenAPI 3.1</a>. <a href="/console">Start page</a></p>
<p><input type="search" id="filter" placeholder="Filter: words of a path, a summary, a parameter" aria-label="Filter" hidden></p>
<p hidden><input type="url" id="stack" aria-label="Address of the stack"></p>
<p hidden><input type="password" id="token" autocomplete="off" placeholder="Token, to send requests to this stack from this page" aria-label="Token"></p>
<p>${[...names, NOT_BUILT].map(link).join(' · ')}</p>
${names
  .map((name) =>
    group(
      name,
      built.filter((route) => tagOf(route) === name),
      baseUrl,
    ),
  )
  .join('\n')}
${group(
  NOT_BUILT,
  routes.filter((route) => !isBuilt(route)),
  baseUrl,
)}
</main>
<script>${DOCS_SCRIPT}</script>`,
  )
}

const NOT_BUILT = 'Not built'

const group = (name: string, routes: readonly DocumentedRoute[], baseUrl: string): string =>
  `<section><h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>\n<p class="quiet">${escapeHtml(TAGS[name] ?? '')}</p>\n${routes.map((route) => operation(route, baseUrl)).join('\n')}</section>`

function operation(route: DocumentedRoute, baseUrl: string): string {
  const { method, operation: name = '', summary = '', needs, role } = route
  const parameters = parametersOf(route)
  const words = [method, pathOf(route), name, summary, ...parameters.map((parameter) => parameter.name)].join(' ').toLowerCase()
  return `<details data-words="${escapeHtml(words)}"${isBuilt(route) ? ` data-request="${escapeHtml(JSON.stringify(tryRequest(route)))}"` : ''}><summary><span class="method">${method}</span><code>${escapeHtml(pathOf(route))}</code> <span class="quiet">${escapeHtml(summary)}</span></summary>
<p>Operation <code>${escapeHtml(name)}</code>; needs ${needs === 'nothing' ? 'no token' : `<code>${escapeHtml(needs)}</code>`}${role ? `; lowest role of people: ${role}` : ''}.</p>
${table(parameters)}
<pre>${escapeHtml(curlExample(route, baseUrl))}</pre></details>`
}

function table(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required ? ' <b>required</b>' : ''}</td><td>${place}</td><td>${escapeHtml(typeOf(schema))}</td><td>${escapeHtml(description)}</td></tr>`,
  )
  return `<table><tr><th>Parameter</th><th>in</th><th>type</th><th></th></tr>${rows.join('')}</table>`
}

/** In words: `string`, `integer or null`, `production or development`. */
function typeOf({ type, const: constant, anyOf }: Parameter['schema']): string {
  if (constant !== undefined) return String(constant)
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].join(' or ')
  return typeof type === 'string' ? type : ''
}
