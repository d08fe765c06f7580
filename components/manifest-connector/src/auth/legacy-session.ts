// The older session login: a stored token is tried first, then user and password.

import { contextOf } from '../component.ts'
import { ConnectorError } from '../errors.ts'
import { asLogin } from '../http/transport.ts'
import { type Dict, getKey, isDict, pyStr } from '../python/values.ts'
import { type AuthDeps, type Authenticator, headerOption, tokenAuthenticator } from './token.ts'

export function createLegacySession(definition: Dict, deps: AuthDeps): Authenticator {
  const context = contextOf(definition, deps)
  const text = (template: unknown) =>
    template === undefined || template === null ? '' : pyStr(deps.expressions.value(template, context))
  const header = text(definition.header)
  let session: string | undefined

  async function isValid(token: string): Promise<boolean> {
    const { status } = await asLogin(deps.send)({
      method: 'GET',
      url: `${deps.baseUrl()}${text(definition.validate_session_url)}`,
      headers: { [header]: token },
    })
    if (status >= 400 && status !== 401) throw new ConnectorError(`The session could not be validated: status ${status}.`)
    return status < 400
  }

  async function logIn(): Promise<string> {
    const body = JSON.stringify({ username: text(definition.username), password: text(definition.password) })
    deps.hide(text(definition.password))
    const response = await asLogin(deps.send)({
      method: 'POST',
      url: `${deps.baseUrl()}${text(definition.login_url)}`,
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const answer = response.json()
    const token = response.ok && isDict(answer) ? getKey(answer, text(definition.session_token_response_key)) : undefined
    if (token === undefined) throw new ConnectorError(`The login failed with status ${response.status}.`)
    return pyStr(token)
  }

  return tokenAuthenticator(headerOption(header), async () => {
    const stored = text(definition.session_token)
    deps.hide(stored)
    if (stored !== '' && stored !== 'None' && (await isValid(stored))) return stored
    if (text(definition.username) === '' || text(definition.password) === '')
      throw new ConnectorError('Invalid credentials: no valid session token, and no user name and password.')
    session ??= await logIn()
    deps.hide(session)
    return session
  })
}
