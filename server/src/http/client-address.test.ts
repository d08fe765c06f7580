import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { clientAddresses } from './client-address.ts'

const message = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage // all that is read

test('the address of a client is believed only from proxies that are trusted', () => {
  const clientOf = clientAddresses(['10.0.0.0/8', 'fd00::1'])
  assert.equal(clientOf(message('192.0.2.1')), '192.0.2.1')
  assert.equal(clientOf(message('192.0.2.1', '198.51.100.7')), '192.0.2.1', 'anybody can send the header')
  assert.equal(clientOf(message('::ffff:10.1.2.3', '198.51.100.7')), '198.51.100.7')
  assert.equal(
    clientOf(message('fd00::1', '203.0.113.9, 198.51.100.7, 10.9.9.9')),
    '198.51.100.7',
    'the last that is not a proxy',
  )
  assert.equal(clientOf(message('10.0.0.1', '10.0.0.2')), '10.0.0.2')
})
