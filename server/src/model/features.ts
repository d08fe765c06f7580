// The features of every stack by the names that clients check: the index publishes it, tokens/verify and components get it with
// the features of the project (spec storage 2.1, spec platform 1.13). A name is added with its behaviour, never before.

export const STACK_FEATURES = [
  'queuev2', // jobs, retries and `write_always`: the queue of spec platform 2
  'storage-branches', // a branch has buckets, tables and files of its own
  'new-native-types', // typed tables, and `schema` in manifests
  'global-search',
  'data-streams', // webhooks become tables
  'hide-decrypted-token', // the value of a token is shown when it is created or refreshed, never again
] as const

export const featuresOf = (project: { readonly features: readonly string[] }): string[] => [
  ...new Set([...STACK_FEATURES, ...project.features]),
]
