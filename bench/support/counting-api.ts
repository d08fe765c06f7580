// An API that takes anything and counts it, as a process of its own. Prints its address; ends when stdin closes.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let count = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    count++
    response.setHeader('content-type', 'application/json').end(`{"id":"r${count}"}`)
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)) // a TCP listener has one
process.stdin.resume().on('end', () => process.exit(0))
