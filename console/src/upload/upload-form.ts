// The form of an upload through the stack itself.

import { branchId, type SentFile } from '../session.ts'

type Fields = NonNullable<SentFile['fields']>

/** Of a file with this name, in the branch that is looked at. */
export function uploadFields(name: string, more: Fields = []): Fields {
  const branch = branchId()
  return [['name', name], ...more, ...(branch === undefined ? [] : [['branchId', branch] as const])]
}

export function uploadForm(fields: Fields, data: Blob, fileName: string): FormData {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  form.append('data', data, fileName)
  return form
}
