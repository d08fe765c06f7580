import { type Operation, sendEmpty } from '../operation.ts'

export const deleteObject: Operation = {
  name: 'DeleteObject',
  need: () => ({ action: 'administer' }),
  async run({ call, store, response }) {
    await store.delete(call.key)
    sendEmpty(response, 204)
  },
}
