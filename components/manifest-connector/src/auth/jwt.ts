// Tokens that the connector signs itself.

import { createHmac, createPrivateKey, createSign, constants as crypto, sign as signBytes } from 'node:crypto'
import { contextOf, type Deps } from '../component.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import { createRequestOption } from '../http/request-option.ts'
import { jsonText } from '../python/json.ts'
import { asNumber, type Dict, isDict, isNumber, pyStr, truthy } from '../python/values.ts'
import { type Authenticator, headerOption, tokenAuthenticator } from './token.ts'

const encoded = (value: unknown) => Buffer.from(jsonText(value)).toString('base64url')

export function createJwt(definition: Dict, deps: Deps): Authenticator {
  const token = jwtSource(definition, deps)
  const prefix = truthy(definition.header_prefix)
    ? pyStr(deps.expressions.value(definition.header_prefix, contextOf(definition, deps)))
    : ''
  const option = createRequestOption(definition.request_option, deps) ?? headerOption('Authorization')
  return tokenAuthenticator(option, async () => (option.place === 'header' && prefix !== '' ? `${prefix} ${token()}` : token()))
}

export function jwtSource(definition: Dict, deps: Deps): () => string {
  const { expressions, clock, hide } = deps
  const context = contextOf(definition, deps)
  const evaluated = (template: unknown) => (truthy(template) ? expressions.value(template, context) : undefined)

  function headers(): Dict {
    const own = isDict(definition.jwt_headers) ? definition.jwt_headers : {}
    const extra = isDict(definition.additional_jwt_headers)
      ? (expressions.nested(definition.additional_jwt_headers, context) as Dict)
      : {}
    for (const name of ['kid', 'alg', 'typ', 'cty'])
      if (Object.hasOwn(extra, name)) throw new ValueError(`'${name}' cannot be set in additional_jwt_headers.`)
    const typ = evaluated(own.typ)
    const [kid, cty] = [evaluated(own.kid), evaluated(own.cty)]
    return {
      alg: algorithm(),
      typ: typ === undefined ? 'JWT' : pyStr(typ),
      ...extra,
      ...(kid !== undefined && { kid: pyStr(kid) }),
      ...(cty !== undefined && { cty: pyStr(cty) }),
    }
  }

  function claims(): Dict {
    const own = isDict(definition.jwt_payload) ? definition.jwt_payload : {}
    const extra = isDict(definition.additional_jwt_payload)
      ? (expressions.nested(definition.additional_jwt_payload, context) as Dict)
      : {}
    const now = Math.trunc(clock.instant().timestamp())
    const duration = isNumber(definition.token_duration) ? asNumber(definition.token_duration) : 1200
    const claim = (name: string) => {
      const value = evaluated(own[name])
      return value === undefined ? {} : { [name]: value }
    }
    const issuer = { ...extra, ...claim('iss') }.iss
    if (issuer !== undefined && typeof issuer !== 'string')
      throw new ValueError('The issuer (iss) of a signed token must be a text.')
    return { ...extra, ...claim('iss'), ...claim('sub'), ...claim('aud'), iat: now, exp: now + duration, nbf: now }
  }

  const algorithm = () => pyStr(definition.algorithm)

  function key(): string {
    const text = pyStr(expressions.value(definition.secret_key, context))
    hide(text)
    return definition.base64_encode_secret_key === true ? Buffer.from(text).toString('base64') : text
  }

  return () => {
    const content = `${encoded(headers())}.${encoded(claims())}`
    const passphrase = evaluated(definition.passphrase)
    const token = `${content}.${signature(algorithm(), content, key(), passphrase === undefined ? undefined : pyStr(passphrase)).toString('base64url')}`
    hide(token)
    return token
  }
}

function signature(algorithm: string, content: string, key: string, passphrase: string | undefined): Buffer {
  const hash = `sha${algorithm.slice(2)}`
  if (/^HS(?:256|384|512)$/.test(algorithm)) return createHmac(hash, key).update(content).digest()
  if (!/^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$/.test(algorithm))
    throw new ConnectorError(`The JWT algorithm '${algorithm}' is not supported.`)
  let privateKey: ReturnType<typeof createPrivateKey>
  try {
    privateKey = createPrivateKey({ key: key.replaceAll('\\n', '\n'), ...(passphrase !== undefined && { passphrase }) })
  } catch {
    throw new ConnectorError(`The secret key of the JWT authenticator is not a private key that ${algorithm} can use.`)
  }
  if (algorithm === 'EdDSA') return signBytes(null, Buffer.from(content), privateKey)
  const signer = createSign(hash).update(content)
  if (algorithm.startsWith('PS'))
    return signer.sign({ key: privateKey, padding: crypto.RSA_PKCS1_PSS_PADDING, saltLength: crypto.RSA_PSS_SALTLEN_DIGEST })
  return algorithm.startsWith('ES') ? signer.sign({ key: privateKey, dsaEncoding: 'ieee-p1363' }) : signer.sign(privateKey)
}
