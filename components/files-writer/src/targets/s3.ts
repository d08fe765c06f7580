// A bucket of S3, or of a store compatible with S3. An object has its name once it is whole.

import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { addressIn, type S3Settings, signed } from '../../../files-extractor/src/stores/s3.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { type HttpSend, httpSend, refusalOf } from './http-send.ts'
import type { Target } from './target.ts'

/** Of one request; a larger object would have to be sent in parts. */
const MAX_BYTES = 5 * 2 ** 30

export function openS3Target(settings: S3Settings, guard: EgressGuard): Target {
  const send = (method: HttpSend['method'], key: string, query: Record<string, string> = {}, file?: HttpSend['file']) => {
    const { url, ...place } = addressIn(settings, key, query)
    return httpSend(url, { method, headers: () => signed(settings, { ...place, method }), file }, guard).then((answer) => ({
      url,
      answer,
    }))
  }
  return {
    async check() {
      const { url, answer } = await send('GET', '', { 'list-type': '2', 'max-keys': '1' })
      if (answer.status !== 200) throw refusalOf(url, answer)
    },
    async exists(path) {
      const { url, answer } = await send('HEAD', path)
      if (answer.status !== 200 && answer.status !== 404) throw refusalOf(url, answer)
      return answer.status === 200
    },
    async put({ path, local, bytes }) {
      if (bytes > MAX_BYTES)
        throw new UserError(`${path} has more than 5 GiB, which is too much for one object. Set maxRowsPerFile.`)
      const { url, answer } = await send('PUT', path, {}, { local, bytes })
      if (answer.status < 200 || answer.status > 299) throw refusalOf(url, answer)
    },
    close() {},
  }
}
