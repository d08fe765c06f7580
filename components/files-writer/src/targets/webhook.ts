// An address that takes files, one request for each.

import { basename } from 'node:path'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import type { WebhookSettings } from '../settings.ts'
import { httpSend, refusalOf } from './http-send.ts'
import type { Target } from './target.ts'

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  excel: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

export function openWebhookTarget(
  { url: address, method, bearerToken }: WebhookSettings,
  format: string,
  guard: EgressGuard,
): Target {
  const url = new URL(address)
  return {
    check: async () => guard.check(url.hostname, Number(url.port || (url.protocol === 'https:' ? 443 : 80))),
    exists: async () => false,
    async put({ path, local, bytes, sha256 }) {
      const headers = {
        'content-type': path.endsWith('.gz') ? 'application/gzip' : (TYPES[format] ?? 'application/octet-stream'),
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`,
        'x-content-sha256': sha256,
        ...(bearerToken !== '' && { authorization: `Bearer ${bearerToken}` }),
      }
      const answer = await httpSend(url, { method, headers: () => headers, file: { local, bytes } }, guard)
      if (answer.status < 200 || answer.status > 299) throw refusalOf(url, answer)
    },
    close() {},
  }
}
