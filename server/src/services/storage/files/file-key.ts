// Where a file's bytes live. The key is for programs: a name in any script becomes a safe piece of it, the record keeps the real one.

export interface KeyParts {
  readonly projectId: number
  readonly fileId: number
  readonly name: string
  readonly createdAt: Date
  /** Null for permanent files, which live outside the folders that expire. */
  readonly maxAgeDays: number | null
}

const MAX_NAME_IN_KEY = 120

/** `exp-15/4/files/2026/01/31/17.orders.csv` */
export function fileKey({ projectId, fileId, name, createdAt, maxAgeDays }: KeyParts): string {
  const day = createdAt.toISOString().slice(0, 10).replaceAll('-', '/')
  return `${maxAgeDays === null ? '' : `exp-${maxAgeDays}/`}${projectId}/files/${day}/${fileId}.${nameInKey(name)}`
}

/** ASCII letters, digits, dot, dash and underscore; accents are dropped, everything else becomes an underscore. The end is kept: it shows the type. */
function nameInKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/\.{2,}/g, '.')
  return plain.slice(-MAX_NAME_IN_KEY) || '_'
}

/** For `Content-Disposition` (RFC 6266): an ASCII form for old clients, the real name for the others. */
export function attachment(name: string): string {
  const shown = name
    .replace(/\p{Cc}/gu, '_')
    .slice(-180)
    .toWellFormed()
  const ascii = shown.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(shown).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`
}
