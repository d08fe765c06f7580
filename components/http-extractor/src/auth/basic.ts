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
    const value = [at(attributes, name), at(attributes, `#${name}`)].find((v) => !isEmpty(v))
    return isScalar(value) ? toText(value) : undefined
  }
  const user = attribute('username')
  if (user === undefined) throw new UserError("Missing the required '#username' (or 'username') attribute in config.")
  const password = attribute('password')
  if (password === undefined) throw new UserError("Missing the required '#password' attribute in config.")
  const encoded = Buffer.from(`${user}:${password}`).toString('base64')
  redactor.add(encoded)
  redactor.add(password)
  return async (request) => ({ ...request, headers: withHeaders(request.headers, [['Authorization', `Basic ${encoded}`]]) })
}
