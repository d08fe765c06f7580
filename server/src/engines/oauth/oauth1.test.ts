import assert from 'node:assert/strict'
import test from 'node:test'
import { authorizationHeader } from './oauth1.ts'

const client = { id: 'dpf43f3p2l4k3l03', secret: 'kd94hf93k423kf44' }
const token = { token: 'nnch734d00sl2jdk', secret: 'pfkkdhi9sl3r4s00' }
const url = new URL('http://photos.example.net/photos?file=vacation.jpg&size=original')
const signatureIn = (header: string): string => decodeURIComponent(/oauth_signature="([^"]+)"/.exec(header)?.[1] ?? '')

test('requests are signed as OAuth Core 1.0 and RFC 5849 sign their examples', () => {
  const common = { oauth_consumer_key: client.id, oauth_signature_method: 'HMAC-SHA1', oauth_token: token.token }
  const core = { ...common, oauth_timestamp: '1191242096', oauth_nonce: 'kllo9940pd9333jh', oauth_version: '1.0' }
  assert.equal(
    signatureIn(authorizationHeader({ method: 'GET', url, client, token, oauth: core })),
    'tR3+Ty81lMeYAr/Fid0kMTYa/WM=',
  )
  const rfc = { ...common, oauth_timestamp: '137131202', oauth_nonce: 'chapoH' }
  assert.equal(
    signatureIn(authorizationHeader({ method: 'GET', url, client, token, oauth: rfc })),
    'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
  )
})
