// The page and the icon of a component, made from its description: where `documentationUrl` of built-in components leads.

import type { ComponentDescription } from '../../../../../contract/component.ts'
import { escapeHtml, htmlPage } from '../../../http/html-page.ts'

export function componentPage(component: ComponentDescription, baseUrl: string): string {
  const { id, aliases, name, type, description, longDescription, data, configurationSchema, configurationRowSchema } = component
  const facts: readonly (readonly [string, string])[] = [
    ['Id', id],
    ['Other ids', aliases.join(', ')],
    ['Type', type],
    ['Actions', data.synchronous_actions.join(', ')],
    ['Memory, time', `${data.memory}, ${data.process_timeout} s`],
    ['Network', data.network],
  ]
  const rows = facts
    .filter(([, value]) => value !== '')
    .map(([fact, value]) => `<tr><th>${fact}</th><td>${escapeHtml(value)}</td></tr>`)
  return htmlPage(
    name,
    `<main>
<h1>${escapeHtml(name)}</h1>
<p>${escapeHtml(description)}</p>
${longDescription === '' ? '' : `<p>${escapeHtml(longDescription)}</p>`}
<table>${rows.join('')}</table>
<p>Configurations are created with <code>POST ${escapeHtml(baseUrl)}/v2/storage/components/${escapeHtml(id)}/configs</code>; see <a href="/docs">the API</a>.</p>
${schemaOf('Configuration', configurationSchema)}${schemaOf('Row', configurationRowSchema)}
</main>`,
  )
}

const schemaOf = (title: string, schema: Readonly<Record<string, unknown>>): string =>
  Object.keys(schema).length === 0 ? '' : `<h2>${title}</h2>\n<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>\n`

const COLOURS: Readonly<Record<string, string>> = {
  extractor: '#0b5d7a',
  writer: '#7a4b0b',
  transformation: '#4b0b7a',
  processor: '#4a5560',
  application: '#0b7a3f',
}

/** Two letters on the colour of the type. */
export function iconOf({ name, type }: Pick<ComponentDescription, 'name' | 'type'>): string {
  const letters = name
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .split(' ')
    .map((word) => word.charAt(0))
  const text = escapeHtml(letters.join('').slice(0, 2).toUpperCase())
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 128 128" width="128" height="128"><rect width="128" height="128" rx="24" fill="${COLOURS[type] ?? '#556'}"/><text x="64" y="82" font-family="sans-serif" font-size="52" fill="#fff" text-anchor="middle">${text}</text></svg>`
}
