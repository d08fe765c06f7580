// The cloud protocol by which clients transfer the files of a project. The bytes are in the same object store either way.

export const FILE_PROVIDERS = ['aws', 'azure'] as const

export type FileProvider = (typeof FILE_PROVIDERS)[number]

export const DEFAULT_PROVIDER: FileProvider = 'aws'
