// Ranges and conditional headers of a read (RFC 9110, sections 13 and 14), as S3 applies them.

import type { ByteRange, ObjectInfo } from '../../../engines/object-store/object-store.ts'
import { headerOf, type S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

/** 304, or an error for 412, or nothing to object. `prefix` is for the x-amz-copy-source- forms. */
export function checkConditions(call: S3Call, info: ObjectInfo, prefix = ''): 'not-modified' | 'go-on' {
  const ifMatch = headerOf(call, `${prefix}if-match`)
  const ifNoneMatch = headerOf(call, `${prefix}if-none-match`)
  const modifiedSince = dateOf(headerOf(call, `${prefix}if-modified-since`))
  const unmodifiedSince = dateOf(headerOf(call, `${prefix}if-unmodified-since`))
  const modified = modifiedOf(info)
  const failed = (condition: string) =>
    new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', { Condition: condition })

  if (ifMatch !== undefined) {
    if (!matches(ifMatch, info.etag)) throw failed('If-Match')
  } else if (unmodifiedSince !== undefined && modified > unmodifiedSince) throw failed('If-Unmodified-Since')

  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, info.etag) ? 'not-modified' : 'go-on'
  return modifiedSince !== undefined && modified <= modifiedSince ? 'not-modified' : 'go-on'
}

/** Dates in headers have no milliseconds. */
const modifiedOf = (info: ObjectInfo): number => Math.floor(info.modifiedMs / 1000) * 1000

const matches = (header: string, etag: string): boolean =>
  header
    .split(',')
    .map((one) => one.trim().replace(/^W\//, '').replaceAll('"', ''))
    .some((one) => one === '*' || one === etag)

function dateOf(header: string | undefined): number | undefined {
  const time = header === undefined ? Number.NaN : Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

/** The requested range, unless If-Range names another state of the object than the current one. */
export function rangeOf(call: S3Call, info: ObjectInfo): ByteRange | undefined {
  const ifRange = headerOf(call, 'if-range')
  if (ifRange !== undefined) {
    const date = dateOf(ifRange)
    const isSame = date === undefined ? matches(ifRange, info.etag) : modifiedOf(info) === date
    if (!isSame) return undefined
  }
  return parseRange(headerOf(call, 'range'), info.sizeBytes)
}

/** Every object is one part here, however it was uploaded. */
export function checkPartNumber(call: S3Call): void {
  const number = call.query.get('partNumber')
  if (number !== undefined && number !== '1')
    throw new S3Error('InvalidPartNumber', 'The requested part number is not satisfiable: objects are read as one part.', {
      PartNumberRequested: number,
      ActualPartCount: '1',
    })
}

/** The one range of a Range header; `undefined` (the whole object) for several ranges or for what is not a range. */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  if (start >= sizeBytes || (first === '' && Number(last) === 0))
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable', {
      RangeRequested: header ?? '',
      ActualObjectSize: String(sizeBytes),
    })
  return { start, end }
}
