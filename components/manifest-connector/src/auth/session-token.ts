// A login whose answer holds the token of the session.

import { contextOf, dictOf } from '../component.ts'
import { createDecoder, firstDecoded } from '../decode/decoder.ts'
import { ConnectorError } from '../errors.ts'
import { createRequestOption } from '../http/request-option.ts'
import { refuseSmallerRequests } from '../pagination/page-size-reduction.ts'
import { EMPTY_SLICE } from '../partitions/slice.ts'
import * as dpath from '../python/dpath.ts'
import { type Dict, pyStr, truthy } from '../python/values.ts'
import { type PyDatetime, parseDuration } from '../time/datetime.ts'
import { type AuthDeps, type Authenticator, headerOption, tokenAuthenticator } from './token.ts'

export function createSessionToken(definition: Dict, deps: AuthDeps): Authenticator {
  const { expressions, clock, hide } = deps
  refuseSmallerRequests(dictOf(definition.login_requester, 'login_requester'), 'login_requester')
  const login = deps.createRequester(dictOf(definition.login_requester, 'login_requester'), 'login')
  const decoder = createDecoder(definition.decoder)
  const path = (definition.session_token_path as unknown[]).map(pyStr)
  const duration = typeof definition.expiration_duration === 'string' ? parseDuration(definition.expiration_duration) : undefined
  let known: { readonly token: unknown; readonly until: PyDatetime | undefined } | undefined

  async function token(): Promise<string> {
    if (!known?.until || (clock.instant().pyCompare(known.until) ?? 0) > 0) {
      const outcome = await login.send({ slice: EMPTY_SLICE })
      if (outcome.ignored) throw new ConnectorError('Failed to get the session token: the answer was ignored by the requester.')
      const found = dpath.get(firstDecoded(outcome.response, { ...decoder, forPaginator: true }), path)
      if (found === undefined) throw new ConnectorError(`The login answered without '${path.join('.')}'.`)
      hide(found)
      known = { token: found, until: duration ? clock.instant().plus(duration) : undefined }
    }
    return pyStr(known!.token)
  }

  const how = dictOf(definition.request_authentication, 'request_authentication')
  const forget = () => {
    known = undefined
  }
  if (how.type === 'ApiKey') {
    const option = createRequestOption(how.inject_into, deps)
    if (!option) throw new ConnectorError('request_authentication.inject_into is missing.')
    const text = async () =>
      truthy(how.api_token)
        ? pyStr(expressions.value(how.api_token, { ...contextOf(how, deps), session_token: await token() }))
        : token()
    return { ...tokenAuthenticator(option, text), forget }
  }
  return { ...tokenAuthenticator(headerOption('Authorization'), async () => `Bearer ${await token()}`), forget }
}
