// How a file seems to be written, as the stack sees it: it reads the beginning, the rest stays where it is.

import { ApiError, type ErrorBody, requestOf } from '../../../client/src/client.ts'
import type { SniffedFile } from '../../../client/src/operations.ts'
import { api, branchId, rememberSent, sessionHeaders } from '../session.ts'
import type { Source } from './load-file.ts'

const HEAD_BYTES = 1 << 20

/** What a person knows better than the guess; left out: guessed. */
export interface Hints {
  readonly delimiter?: string
  readonly enclosure?: string
  readonly hasHeader?: boolean
}

export const sniff = ({ from }: Source, hints: Hints): Promise<SniffedFile> =>
  from instanceof File ? sniffBytes(from, hints) : api.call('files.sniff', { path: { id: String(from.fileId) }, query: hints })

async function sniffBytes(file: File, hints: Hints): Promise<SniffedFile> {
  const query = { ...hints, isWhole: file.size <= HEAD_BYTES }
  rememberSent('files.sniffBody', { query }, { name: file.name })
  const response = await fetch(requestOf('files.sniffBody', { query }, branchId()).address, {
    method: 'POST',
    headers: { ...sessionHeaders(), 'content-type': 'application/octet-stream' },
    body: file.slice(0, HEAD_BYTES),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new ApiError(response.status, answer as ErrorBody)
  return answer as SniffedFile // as the document promises
}
