// XML as a value: elements by name, those of one name as a list, attributes with `@` in front, text beside other things as `#text`.
// Texts stay texts: `007` is no number to us.

import type { JsonValue } from '../json/json.ts'
import { DecodeError } from './decode-error.ts'

const OPTIONS = {
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  htmlEntities: true,
}

export async function decodeXml(body: Buffer): Promise<JsonValue> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser')
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  // Entities of its own let a small document unfold to any size.
  if (text.includes('<!ENTITY')) throw new DecodeError('the document declares entities, which are not read')
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new DecodeError(`${valid.err.msg} (line ${valid.err.line}, column ${valid.err.col})`)
  return new XMLParser(OPTIONS).parse(text) as JsonValue // objects, arrays and texts, as the options define
}
