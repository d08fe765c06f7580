// XML as xmltodict gives it: attributes with @, text as #text, repeated elements as lists, everything text.

import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { ConnectorError } from '../errors.ts'
import { type Dict, isDict, setKey } from '../python/values.ts'

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  processEntities: true,
})

export function xmlObject(text: string): unknown {
  const valid = XMLValidator.validate(text)
  if (valid !== true) return {}
  try {
    return withNulls(parser.parse(text))
  } catch (cause) {
    throw new ConnectorError('The answer is not valid XML.', cause)
  }
}

/** An empty element is null. */
function withNulls(value: unknown): unknown {
  if (value === '') return null
  if (Array.isArray(value)) return value.map(withNulls)
  if (!isDict(value)) return value
  const out: Dict = {}
  for (const [key, member] of Object.entries(value)) setKey(out, key, key.startsWith('@') ? member : withNulls(member))
  return out
}
