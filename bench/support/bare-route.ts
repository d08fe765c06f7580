// The bare Fastify route that our routes are measured against: GET and POST / answer the given text, once or the given number of times. Prints its URL, ends with its stdin.

import Fastify from 'fastify'

const [text = '{}', times = '1'] = process.argv.slice(2)
const answer = text.repeat(Number(times))
const app = Fastify()
for (const method of ['GET', 'POST'] as const)
  app.route({ method, url: '/', handler: async (_request, reply) => reply.type('application/json').send(answer) })
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
process.stdin.on('end', () => process.exit(0)).resume()
