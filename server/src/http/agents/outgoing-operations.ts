// Which changes can carry data out of the project. A token of an agent that has read data needs a person for them (services/access/agent-guards).

/** Groups of operations, or single ones, whose bodies name destinations of data or permissions. */
const NAMES_DESTINATIONS: ReadonlySet<string> = new Set([
  ...['configurations', 'rows', 'branchConfigurations', 'notification', 'tokens', 'queue', 'syncActions', 'dockerRunner'],
  ...['syrup', 'templates', 'dataApps', 'dataScience', 'sandboxes', 'oauth', 'vault', 'stream', 'triggers', 'import.fetchFile'],
])

/** Operations that give others access, whatever their body is, and the words for what they give. */
const GIVES_ACCESS: ReadonlyMap<string, string> = new Map([
  ...['create', 'update', 'refresh'].map((name) => [`tokens.${name}`, 'a token'] as const),
  ...['changeSharing', 'shareOrganization', 'shareOrganizationProject', 'shareToProjects', 'shareToUsers'].map(
    (name) => [`buckets.${name}`, 'a shared bucket'] as const,
  ),
  ...['dataScience', 'sandboxes'].flatMap((group) => [
    [`${group}.createAppLink`, 'a link to an app'] as const,
    [`${group}.createAppPreviewLink`, 'a link to an app'] as const,
    [`${group}.createAppGitCredential`, 'a git credential'] as const,
  ]),
  ['dashboards.createLink', 'a link to a dashboard'],
  ['projectInvitations.create', 'an invitation'],
])

/** What a person has to confirm of a request; undefined: nothing. `gives`: what others get access by. */
export function leadsOut(operation: string): { readonly gives: string | undefined } | undefined {
  const group = operation.slice(0, operation.indexOf('.'))
  const gives = GIVES_ACCESS.get(operation)
  return gives !== undefined || NAMES_DESTINATIONS.has(group) || NAMES_DESTINATIONS.has(operation) ? { gives } : undefined
}
