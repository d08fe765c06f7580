// An answer. Header names keep the case that the server sent, because expressions see it.

import { PyFunction, type WithMembers } from '../jinja/runtime.ts'
import { parsePythonJson } from '../python/json.ts'
import { type Dict, type PyObject, pyRepr, pyStr, setKey, Tuple } from '../python/values.ts'

/** Headers as the reference's predicates see them: found in any case. */
class HeadersView implements PyObject, WithMembers {
  readonly #headers: readonly (readonly [string, string])[]
  constructor(headers: readonly (readonly [string, string])[]) {
    this.#headers = headers
  }
  pyMember(name: string): unknown {
    const find = (key: unknown) => this.#headers.find(([each]) => each.toLowerCase() === pyStr(key).toLowerCase())?.[1]
    if (name === 'get') return new PyFunction(name, ([key, otherwise = null]) => find(key) ?? otherwise)
    if (name === 'keys') return new PyFunction(name, () => this.#headers.map(([each]) => each))
    if (name === 'items') return new PyFunction(name, () => this.#headers.map(([key, value]) => Tuple.of(key, value)))
    return undefined
  }
  pyStr(): string {
    return this.pyRepr()
  }
  pyRepr(): string {
    return pyRepr(Object.fromEntries(this.#headers))
  }
}

export class HttpResponse {
  readonly status: number
  readonly rawHeaders: readonly (readonly [string, string])[]
  readonly body: Buffer
  readonly url: string
  #text: string | undefined
  #json: { readonly value: unknown } | undefined

  constructor(status: number, rawHeaders: readonly (readonly [string, string])[], body: Buffer, url: string) {
    this.status = status
    this.rawHeaders = rawHeaders
    this.body = body
    this.url = url
  }

  get ok(): boolean {
    return this.status < 400
  }
  header(name: string): string | undefined {
    const found = this.rawHeaders.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
    return found.length === 0 ? undefined : found.join(', ')
  }
  /** As expressions see them; `link` is the Link header by relation. */
  headers(): Dict {
    const headers: Dict = {}
    for (const [name, value] of this.rawHeaders) {
      const known = Object.keys(headers).find((each) => each.toLowerCase() === name.toLowerCase())
      setKey(headers, known ?? name, known === undefined ? value : `${String(headers[known])}, ${value}`)
    }
    headers.link = this.links()
    return headers
  }
  headersView(): HeadersView {
    return new HeadersView(this.rawHeaders)
  }
  links(): Dict {
    const links: Dict = {}
    for (const part of (this.header('link') ?? '').replace(/^[ '"]+|[ '"]+$/g, '').split(/, *</)) {
      const [target = '', ...parameters] = part.split(';')
      const url = target.replace(/^[<> '"]+|[<> '"]+$/g, '')
      if (url === '') continue
      const link: Dict = { url }
      for (const parameter of parameters) {
        const [name, value] = parameter.split('=')
        if (name === undefined || value === undefined) break
        setKey(link, name.replace(/^[ '"]+|[ '"]+$/g, ''), value.replace(/^[ '"]+|[ '"]+$/g, ''))
      }
      setKey(links, String(link.rel ?? link.url), link)
    }
    return links
  }
  text(): string {
    this.#text ??= new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.body)
    return this.#text
  }
  /** Undefined when the body is not JSON. */
  json(): unknown {
    if (!this.#json) {
      let value: unknown
      try {
        value = parsePythonJson(this.text())
      } catch {
        value = undefined
      }
      this.#json = { value }
    }
    return this.#json.value
  }
}
