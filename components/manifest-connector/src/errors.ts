// Two ways to fail: the manifest or its expressions are wrong, or a stream cannot be read. Both end with exit code 1.

/** The manifest, the configuration or the API is the reason. The text is for the user. */
export class ConnectorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ConnectorError'
  }
}

/** The manifest breaks the format: names the place and the nearest known name. */
export class ManifestError extends ConnectorError {
  constructor(message: string, cause?: unknown) {
    super(message, cause)
    this.name = 'ManifestError'
  }
}

/** A Python ValueError of the reference: fails the stream, or is caught where the reference catches it. */
export class ValueError extends ConnectorError {
  constructor(message: string) {
    super(message)
    this.name = 'ValueError'
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
