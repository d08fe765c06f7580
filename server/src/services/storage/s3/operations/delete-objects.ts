import { isAllowed } from '../authorize.ts'
import { type Operation, sendXml } from '../operation.ts'
import { readPayload } from '../payload.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, childOf, childrenOf, element, parseXml, textOf } from '../xml.ts'

const MAX_KEYS = 1000
const MAX_XML_BYTES = 2 * 1024 * 1024

export const deleteObjects: Operation = {
  name: 'DeleteObjects',
  need: () => ({ action: 'delete' }),
  async run(context) {
    const { auth, store, response } = context
    const request = childOf(parseXml(await readPayload(context, MAX_XML_BYTES)), 'Delete')
    const keys = childrenOf(request, 'Object').map((object) => textOf(object, 'Key'))
    if (!request || keys.length === 0 || keys.length > MAX_KEYS || keys.some((key) => !key))
      throw new S3Error('MalformedXML', `A Delete document names 1 to ${MAX_KEYS} objects by key.`)
    const named = keys.filter((key) => key !== undefined)
    const isOwn = (key: string) => isAllowed(auth.principal, { action: 'delete', key })
    const allowed = named.filter(isOwn)
    await store.delete(allowed)
    const quiet = textOf(request, 'Quiet') === 'true'
    const deleted = quiet ? [] : allowed.map((key) => element('Deleted', [element('Key', key)]))
    const refused = named.filter((key) => !isOwn(key)).map(refusedKey)
    sendXml(response, answer('DeleteResult', [...deleted, ...refused]))
  },
}

const refusedKey = (key: string) =>
  element('Error', [element('Key', key), element('Code', 'AccessDenied'), element('Message', 'Access Denied')])
