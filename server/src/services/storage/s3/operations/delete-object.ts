import { type Operation, sendEmpty } from '../operation.ts'

export const deleteObject: Operation = {
  name: 'DeleteObject',
  need: ({ key }) => ({ action: 'delete', key }),
  async run({ call, store, response }) {
    await store.delete(call.key)
    sendEmpty(response, 204)
  },
}
