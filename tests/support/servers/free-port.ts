import { createServer } from 'node:net'

/** A port that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number } // a TCP listener has one
  await new Promise((resolve) => server.close(resolve))
  return port
}
