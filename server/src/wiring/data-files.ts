// Files of the data folder that more than one part opens.

export const METADATA_FILE = 'metadata.sqlite'
export const ROOT_KEYS_FILE = 'root-keys'
