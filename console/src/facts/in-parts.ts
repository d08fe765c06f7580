const IDS_PER_REQUEST = 100

/** Ids of a long list, for one request each part. */
export const inParts = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / IDS_PER_REQUEST) }, (_, part) =>
    ids.slice(part * IDS_PER_REQUEST, (part + 1) * IDS_PER_REQUEST),
  )
