// type basic: `Authorization: Basic ...` from the attributes username and password, plain or with `#`.

import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { withHeaders } from '../http/headers.ts'
import { isEmpty, isScalar } from '../json/json.ts'
import { toText } from '../json/text.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'

export const basicSchema = {
  title: 'Basic',
  description: 'A user name and a password from the attributes (#)username and (#)password of config.',
  properties: { type: { const: 'basic' } },
  required: ['type'],
} as const

export function createBasic({ attributes, redactor }: AuthDeps): Authentication {
  const attribute = (name: string) => {
    const given = [at(attributes, name), at(attributes, `#${name}`)]
    const value = given.find((v) => !isEmpty(v)) ?? given.find((v) => v === '')
    return isScalar(value) ? toText(value) : undefined
  }
  const user = attribute('username')
  const password = attribute('password')
  // Many APIs take a key as the one and nothing as the other.
  if (user === undefined || (user === '' && !password))
    throw new UserError("Missing the required '#username' (or 'username') attribute in config.")
  if (password === undefined) throw new UserError("Missing the required '#password' attribute in config.")
  const encoded = Buffer.from(`${user}:${password}`).toString('base64')
  redactor.add(encoded)
  redactor.add(password)
  return async (request) => ({ ...request, headers: withHeaders(request.headers, [['Authorization', `Basic ${encoded}`]]) })
}
