// Under which addresses the sample is found from this machine: the extractor may connect to them, for this path only.

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export function samplePlaces(listeningOrigin: string, publicUrl: string | undefined): readonly string[] {
  const { protocol, port, host } = new URL(listeningOrigin)
  const origins = [...LOOPBACK.map((name) => `${protocol}//${name}${port && `:${port}`}`), `${protocol}//${host}`]
  if (publicUrl !== undefined) origins.push(new URL(publicUrl).origin)
  return [...new Set(origins)].map((origin) => `${origin}/sample/`)
}
