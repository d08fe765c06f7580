// The way to the API: the authentication, retries, limits and guards of the extractor. Redirects are not followed: what was sent would
// have to be sent once more, to a place that the configuration does not name.

import { setTimeout as wait } from 'node:timers/promises'
import type { Program } from '../../connector-kit/src/program.ts'
import { type Fields, textAt } from '../../connector-kit/src/settings.ts'
import { createAuthentication } from '../../http-extractor/src/auth/authentication.ts'
import { readApi } from '../../http-extractor/src/configuration/api.ts'
import { type Configuration, hideSecrets, readConfiguration } from '../../http-extractor/src/configuration/configuration.ts'
import { at } from '../../http-extractor/src/configuration/read.ts'
import type { Scope } from '../../http-extractor/src/functions/evaluate.ts'
import { createEgress } from '../../http-extractor/src/http/egress.ts'
import { readEgressPolicy } from '../../http-extractor/src/http/egress-policy.ts'
import type { HttpRequest, HttpResponse, Send } from '../../http-extractor/src/http/exchange.ts'
import { createGate } from '../../http-extractor/src/http/gate.ts'
import { withRedirects } from '../../http-extractor/src/http/redirect.ts'
import { withRetries } from '../../http-extractor/src/http/retry.ts'
import type { JsonObject } from '../../http-extractor/src/json/json.ts'
import { hideCredentialHeaders } from '../../http-extractor/src/redaction.ts'
import { checkWire, openWire } from '../../http-extractor/src/wire.ts'

export type Api = ReturnType<typeof readApi> & {
  readonly scope: Scope
  readonly configuration: Configuration
  readonly attributes: JsonObject
}

/** `api` and `config` of the parameters, checked; nothing is sent. */
export function readApiOf({ file, parameters, redactor, log }: Program): Api {
  const whole = {
    ...file,
    parameters: { ...parameters, config: isFilled(parameters.config) ? parameters.config : { writer: true } },
  } as JsonObject // read from JSON
  hideSecrets(whole, redactor)
  const configuration = readConfiguration(whole)
  checkWire(configuration)
  const [attributes = {}] = configuration.runs
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const scope: Scope = { references: { attr: attributes }, nowSeconds, hide: redactor.add }
  const api = readApi(configuration.api, attributes, scope, scope, log)
  const token = textAt(parameters, '#bearerToken', '#bearerToken')
  const headers = token === '' ? api.headers : [...api.headers, ['Authorization', `Bearer ${token}`] as const]
  hideCredentialHeaders([...headers, ...api.defaults.headers], redactor.add)
  return { ...api, headers, scope, configuration, attributes }
}

const isFilled = (value: unknown): value is Fields => typeof value === 'object' && value !== null && Object.keys(value).length > 0

export interface Sender {
  send(request: HttpRequest): Promise<{ readonly response: HttpResponse; readonly attempts: () => number }>
  close(): Promise<void>
}

interface Limits {
  readonly concurrency: number
  readonly perSecond: number | undefined
}

export async function openSender(
  api: Api,
  { concurrency, perSecond }: Limits,
  { dataDir, redactor, log }: Program,
): Promise<Sender> {
  const now = () => Date.now()
  const sleep = (seconds: number) => wait(seconds * 1000)
  const egress = createEgress(readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY), undefined, (hostname, port, address) =>
    log.info(`Connecting to ${hostname}:${port} (${address}), which is open by MILLRACE_EGRESS_ALLOW only.`),
  )
  const wire = await openWire(api.configuration, { api, concurrency }, { dataDir, egress, now, sleep, log })
  const gate = createGate({ concurrency, perSecond, now, sleep })
  const paced = gate.around(wire.send)
  const retry = { rules: api.retry, nowSeconds: () => now() / 1000, sleep, log, pause: gate.pause }
  const unsigned = withRetries(paced, retry)
  const isSecret = (text: string) => redactor.redact(text) !== text
  const sign = createAuthentication(at(api.configuration.api, 'authentication'), {
    attributes: api.attributes,
    credentials: api.configuration.oauthCredentials,
    base: api.base,
    send: withRedirects({ send: unsigned, sendUnsigned: unsigned, isSecret }),
    now,
    redactor,
    log,
  })
  const signed: Send = async (request) => {
    const sent = await sign(request)
    const response = await paced(sent)
    if (response.status !== 401 || !sign.renew?.(sent)) return response
    return paced(await sign(request))
  }
  return {
    async send(request) {
      let attempts = 0
      const counted: Send = (one) => {
        attempts++
        return signed(one)
      }
      try {
        return { response: await withRetries(counted, retry)(request), attempts: () => attempts }
      } catch (error) {
        throw Object.assign(error as Error, { attempts })
      }
    },
    close: wire.close,
  }
}
