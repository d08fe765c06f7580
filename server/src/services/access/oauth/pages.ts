// The pages of the broker that a person sees: where to begin, and how it ended. No script, nothing loaded.

import { escapeHtml, htmlPage } from '../../../http/html-page.ts'
import { type Provider, placeholdersOf } from './provider-definition.ts'

/** Forms lead to the provider by a redirect, which browsers count as a target of the form. */
export const LINK_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self' https: http:; frame-ancestors 'none'"

export const endPage = (title: string, text: string): string =>
  htmlPage(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)}</p>\n<p class="quiet">You can close this window.</p>`)

export interface LinkPage {
  readonly componentId: string
  readonly componentName: string
  readonly token: string
  readonly hidden: Readonly<Record<string, string>>
  readonly providers: readonly Provider[]
}

export function linkPage({ componentId, componentName, token, hidden, providers }: LinkPage): string {
  const title = `Authorise ${componentName}`
  const intro = '<p>Choose the account to connect. You are sent to the provider, and back here when you have agreed.</p>'
  const forms = providers.map((provider) => formOf(provider, componentId, { ...hidden, token, provider: provider.id }))
  const none = '<p>This stack has no provider for this component. Ask the administrator to add one.</p>'
  return htmlPage(title, `<h1>${escapeHtml(title)}</h1>\n${intro}\n${forms.join('\n') || none}`)
}

function formOf(provider: Provider, componentId: string, hidden: Readonly<Record<string, string>>): string {
  const kept = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  const asked = [
    ...(Object.hasOwn(hidden, 'authorizedFor')
      ? []
      : [field('authorizedFor', 'Name of this authorisation, for you to recognise it')]),
    ...placeholdersOf(provider).map((name) => field(`userData[${name}]`, `${name} in the address of ${provider.name}`)),
    ...(provider.appKey === undefined
      ? [field('appKey', 'Client id of your application'), field('appSecret', 'Client secret', 'password')]
      : []),
  ]
  return `<h2>${escapeHtml(provider.name)}</h2>
<form method="post" action="/oauth/authorize/${encodeURIComponent(componentId)}">
${[...kept, ...asked].join('\n')}
<p><button>Continue to ${escapeHtml(provider.name)}</button></p>
</form>`
}

const field = (name: string, label: string, type = 'text'): string =>
  `<p><label>${escapeHtml(label)}<br><input type="${type}" name="${escapeHtml(name)}" required autocomplete="off"></label></p>`
