// Chunks of a transfer are memory outside the JavaScript heap. Left to the garbage collector, every 20 MB of them cost a walk over
// the whole heap: half the processor time of an upload (docs/performance.md). Code that is done with a chunk reports it here.

/** Gives the memory of the chunk back now; the chunk is empty afterwards. Nothing happens when it shares its memory with others. */
export function freeChunk(chunk: Uint8Array): void {
  const { buffer } = chunk
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength) buffer.transfer(0)
}

/** The chunks of a source that keeps none of them. Each chunk is valid until the reader requests the next; readers copy what they keep. */
export async function* lentChunks<Chunk extends Uint8Array>(source: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void> {
  for await (const chunk of source) {
    yield chunk
    freeChunk(chunk)
  }
}
