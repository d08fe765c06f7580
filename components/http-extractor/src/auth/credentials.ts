// authorization.oauth_api.credentials: what the platform provides after the user consented.

import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, isObject, isScalar, type JsonObject } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import { toText } from '../json/text.ts'
import type { AuthDeps } from './authentication.types.ts'

export interface OauthCredentials {
  readonly data: string
  readonly appKey: string
  readonly appSecret: string
}

export function readCredentials({ credentials, redactor }: AuthDeps, version: '1.0' | '2.0'): OauthCredentials {
  if (credentials === undefined) throw new UserError('OAuth API credentials not supplied in configuration.')
  const read = (key: string) => {
    const value = at(credentials, key)
    if (isEmpty(value) || !isScalar(value)) throw new UserError(`Missing '${key}' for OAuth ${version} authorization.`)
    return toText(value) // a number is fine: some consumer keys look like one
  }
  const found = { data: read('#data'), appKey: read('appKey'), appSecret: read('#appSecret') }
  redactor.add(found.data)
  redactor.add(found.appSecret)
  return found
}

/** `#data` as an object; its values are secrets like the text itself. */
export function readData({ data }: OauthCredentials, { redactor }: AuthDeps): JsonObject {
  try {
    const parsed = parseJson(data)
    if (isObject(parsed)) {
      redactor.add(parsed)
      return parsed
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
  }
  throw new UserError("The OAuth credentials '#data' are not a JSON object. Authorize the configuration again.")
}
