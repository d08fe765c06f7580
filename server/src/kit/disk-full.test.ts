import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskFullError } from './disk-full.ts'
import { PlatformError } from './errors.ts'

const failure = (members: object, cause?: unknown) => Object.assign(new Error('failed', { cause }), members)

test('a full disk is recognised by every part that reports it', () => {
  const full = [
    failure({ code: 'ENOSPC' }),
    failure({ code: 'EDQUOT' }),
    failure({ code: '53100' }),
    failure({ code: 'ERR_SQLITE_ERROR', errcode: 13 }),
    failure({}, failure({ code: 'ENOSPC' })),
    new PlatformError('internalError', {}, { cause: failure({ errcode: 13 }) }),
  ]
  for (const error of full) assert.equal(diskFullError(error)?.code, 'stack.diskFull')
  assert.match(diskFullError(full[2])!.message, /metadata database/)
})

test('other failures, and those that have a name of their own, stay as they are', () => {
  const own = new PlatformError('storage.full', { what: 'store a file' }, { cause: failure({ code: 'ENOSPC' }) })
  const endless = failure({})
  endless.cause = endless
  for (const error of [own, endless, failure({ code: 'EIO' }), failure({ errcode: 10 }), 'ENOSPC', null, undefined])
    assert.equal(diskFullError(error), undefined)
})
