// XML out and in, as far as S3 needs it.

import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** Made by `element`, so already escaped. */
export interface Xml {
  readonly text: string
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }

/** Control characters cannot be written in XML 1.0 at all; clients with such keys request `encoding-type=url`. */
const escapeText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are exactly the characters XML forbids
  text.replace(/[&<>"\r]/g, (char) => ENTITIES[char]!).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')

export function element(name: string, content: string | number | boolean | readonly Xml[], attributes = ''): Xml {
  const inner = typeof content === 'object' ? content.map((child) => child.text).join('') : escapeText(String(content))
  return { text: `<${name}${attributes}>${inner}</${name}>` }
}

export const xmlDocument = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root.text}`

/** The root of an answer, with the namespace SDKs expect. */
export const answer = (name: string, content: readonly Xml[]): string =>
  xmlDocument(element(name, content, ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'))

const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, trimValues: false, htmlEntities: true })

/** A parsed document: elements by name, repeated ones as a list, leaves as text. `undefined` when it is not XML, or tries to define entities. */
export function parseXml(text: string): XmlNode | undefined {
  if (/<!(DOCTYPE|ENTITY)/i.test(text) || XMLValidator.validate(text) !== true) return undefined
  const parsed: unknown = parser.parse(text)
  return isNode(parsed) ? parsed : undefined
}

export interface XmlNode {
  readonly [name: string]: unknown
}

const isNode = (value: unknown): value is XmlNode => typeof value === 'object' && value !== null && !Array.isArray(value)

export const childrenOf = (node: XmlNode | undefined, name: string): readonly XmlNode[] =>
  [node?.[name] ?? []].flat().filter(isNode)

export const childOf = (node: XmlNode | undefined, name: string): XmlNode | undefined => childrenOf(node, name)[0]

export function textOf(node: XmlNode, name: string): string | undefined {
  const value = node[name]
  return typeof value === 'string' ? value : undefined
}
