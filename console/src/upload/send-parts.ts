// A file in parts, a few of them at a time. Each is a slice, which the browser reads from the disk while it sends it: memory does not grow with the file.

/** Parts on their way at once. */
export const PARALLEL = 3

/** The requested part of a file. */
export type Sliceable<B> = { readonly size: number; slice(from: number, to: number): B }

export interface PartsToSend {
  readonly partBytes: number
  /** Numbers of the parts that are there, with their ETags; grows. */
  readonly done: Map<number, string>
}

/** `send` answers the ETag of the part. */
export async function sendParts<B>(
  file: Sliceable<B>,
  { partBytes, done }: PartsToSend,
  send: (number: number, part: B) => Promise<string>,
  onSent: (bytes: number) => void,
): Promise<void> {
  const lengthOf = (number: number) => Math.min(partBytes, file.size - (number - 1) * partBytes)
  const missing = Array.from({ length: Math.max(1, Math.ceil(file.size / partBytes)) }, (_, index) => index + 1).filter(
    (number) => !done.has(number),
  )
  let sent = [...done.keys()].reduce((sum, number) => sum + lengthOf(number), 0)
  onSent(sent)
  const worker = async () => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const from = (number - 1) * partBytes
      done.set(number, await send(number, file.slice(from, from + lengthOf(number))))
      sent += lengthOf(number)
      onSent(sent)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}
