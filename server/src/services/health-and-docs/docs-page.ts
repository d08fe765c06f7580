// The API as a readable page, from the same routes as the OpenAPI document.

import type { DocumentedRoute } from '../../http/openapi.ts'
import { escapeHtml, htmlPage } from './page.ts'

export function docsPage(routes: readonly DocumentedRoute[], baseUrl: string): string {
  const groups = Map.groupBy(routes, (route) => route.operation?.split('.')[0] ?? 'other')
  const names = [...groups.keys()].sort()
  return htmlPage(
    'Millrace API',
    `<main>
<h1>Millrace API</h1>
<p class="quiet">${routes.length} operations at <code>${escapeHtml(baseUrl)}</code>. Requests carry the token in <code>X-StorageApi-Token</code>; bodies may be JSON or forms.
The same as <a href="/openapi.json">OpenAPI 3.1</a>. <a href="/">Start page</a></p>
<p>${names.map((name) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`).join(' · ')}</p>
${names.map((name) => group(name, groups.get(name) ?? [])).join('\n')}
</main>`,
  )
}

const group = (name: string, routes: readonly DocumentedRoute[]): string =>
  `<h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>\n${routes.map(operation).join('\n')}`

function operation(route: DocumentedRoute): string {
  const { querystring, body } = (route.schema ?? {}) as Readonly<Record<string, ObjectSchema | undefined>> // TypeBox schemas
  return `<details><summary><span class="method">${route.method}</span><code>${escapeHtml(route.url)}</code> <span class="quiet">${escapeHtml(route.summary ?? '')}</span></summary>
<p>Operation <code>${escapeHtml(route.operation ?? '')}</code>; needs ${route.needs === 'nothing' ? 'no token' : `<code>${escapeHtml(route.needs)}</code>`}.</p>
${fields('Query', querystring)}${fields('Body', body)}</details>`
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string; readonly description?: string }>>
  readonly required?: readonly string[]
}

function fields(title: string, schema: ObjectSchema | undefined): string {
  const properties = Object.entries(schema?.properties ?? {})
  if (properties.length === 0) return ''
  const rows = properties.map(([name, property]) => {
    const required = schema?.required?.includes(name) ? ' <b>required</b>' : ''
    return `<tr><td><code>${escapeHtml(name)}</code>${required}</td><td>${escapeHtml(property.type ?? '')}</td><td>${escapeHtml(property.description ?? '')}</td></tr>`
  })
  return `<table><tr><th>${title}</th><th></th><th></th></tr>${rows.join('')}</table>`
}
