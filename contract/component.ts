// A component description as the index and the component routes publish it (seeds, index response; contract storage 2.1).

export interface ComponentDescription {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly description: string
  readonly longDescription: string
  readonly version: number
  readonly hasUI: boolean
  readonly hasRun: boolean
  readonly ico32: string | null
  readonly ico64: string | null
  readonly ico128: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly flags: readonly string[]
  readonly configurationSchema: Readonly<Record<string, unknown>>
  readonly configurationRowSchema: Readonly<Record<string, unknown>>
  readonly emptyConfiguration: Readonly<Record<string, unknown>>
  readonly emptyConfigurationRow: Readonly<Record<string, unknown>>
  readonly createConfigurationRowSchema: Readonly<Record<string, unknown>>
  readonly uiOptions: Readonly<Record<string, unknown>>
  readonly configurationDescription: string | null
  readonly documentationUrl: string | null
  readonly uri: string
  readonly complexity: string | null
  readonly categories: readonly string[]
  readonly features: readonly string[]
  readonly expiredOn: string | null
}
