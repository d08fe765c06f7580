// Why a job failed, as its record says.

export interface Cause {
  readonly kind: string
  readonly text: string
  readonly subject: string | null
  readonly where: { readonly pointer: string; readonly in: 'row' | 'configuration'; readonly rowId: string | null } | null
  readonly request: {
    readonly method?: string
    readonly url?: string
    readonly status?: number | null
    readonly excerpt?: string | null
  } | null
  readonly since: {
    readonly job: string
    readonly endTime: string
    readonly configVersion: string
    readonly isConfigurationChanged: boolean
    readonly rowsChanged: readonly string[]
  } | null
  readonly advice: string
  readonly help: string
}

export interface FailedResult {
  readonly message?: string
  readonly error?: { readonly type?: string; readonly exceptionId?: string; readonly cause?: Cause | null }
}
