import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressText, parseAddress, resolveAddress } from './address.ts'

const resolve = (base: string, endpoint: string) => addressText(resolveAddress(parseAddress(base)!, endpoint))

test('an endpoint is resolved against the base as RFC 3986 says', () => {
  const cases: [string, string, string][] = [
    ['http://h/3.0/', 'campaign', 'http://h/3.0/campaign'],
    ['http://h/3.0/', 'campaign/', 'http://h/3.0/campaign/'],
    ['http://h/3.0', 'campaign', 'http://h/campaign'],
    ['http://h/3.0/', '/1.0/c', 'http://h/1.0/c'],
    ['http://h/3.0', '?q=1', 'http://h/3.0?q=1'],
    ['http://h/3.0', '../up', 'http://h/up'],
    ['http://h/3.0', './a/../b', 'http://h/b'],
    ['http://h/3.0/?key=1', 'campaign', 'http://h/3.0/campaign'],
    ['http://h', 'campaign', 'http://h/campaign'],
    ['http://h/x', 'http://other/x?y=1#f', 'http://other/x?y=1'],
    ['http://h', '//h2/x', 'http://h2/x'],
    ['https://h:8443/a/', 'b', 'https://h:8443/a/b'],
    ['https://h:443/', 'b', 'https://h/b'],
    ['http://h/a/', 'b c/ü?q=ž x', 'http://h/a/b%20c/%C3%BC?q=%C5%BE%20x'],
    ['http://h/a/', 'b%20c/50%', 'http://h/a/b%20c/50%25'],
    ['http://h/a/', 'b//c', 'http://h/a/b//c'],
    ['http://h/a/', 'items:1', 'http://h/a/items:1'],
    ['http://h/a/b/c', '../../../../x', 'http://h/x'],
    ['http://h/a/', '.', 'http://h/a/'],
    ['http://H.EXAMPLE/a', 'b', 'http://h.example/b'],
    ['http://bücher.example/', 'b', 'http://xn--bcher-kva.example/b'],
    ['http://127.0.0.1:8080/a/', 'b', 'http://127.0.0.1:8080/a/b'],
    ['http://[::1]:8080/', 'b', 'http://[::1]:8080/b'],
  ]
  for (const [base, endpoint, expected] of cases) assert.equal(resolve(base, endpoint), expected, `${base} + ${endpoint}`)
})

test('what is not an http address is none', () => {
  for (const text of [
    '',
    'h/x',
    'ftp://h/',
    'http://',
    'http:///x',
    'http://h:99999/',
    'http://[::1/',
    'javascript:alert(1)',
    '//h/x',
  ]) {
    assert.equal(parseAddress(text), undefined, text)
  }
})
