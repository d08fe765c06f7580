// The configuration of a client of the Model Context Protocol, to be pasted as it is.

export interface AgentClient {
  readonly name: string
  /** Where the text belongs. */
  readonly where: string
  readonly kind: 'json' | 'vscode' | 'command' | 'toml'
}

export const CLIENTS: readonly AgentClient[] = [
  { name: 'Claude Code', where: 'Run it in a terminal, in the folder of your project.', kind: 'command' },
  { name: 'Claude Desktop', where: 'In claude_desktop_config.json (Settings, Developer).', kind: 'json' },
  { name: 'Cursor', where: 'In .cursor/mcp.json of your project.', kind: 'json' },
  { name: 'VS Code', where: 'In .vscode/mcp.json of your project.', kind: 'vscode' },
  { name: 'Codex', where: 'In ~/.codex/config.toml; the token is read from the variable MILLRACE_TOKEN.', kind: 'toml' },
  { name: 'Other', where: 'In the file of servers of your client, often .mcp.json.', kind: 'json' },
]

export function configurationOf({ kind }: AgentClient, origin: string, token: string): string {
  const url = `${origin}/mcp`
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } }
  if (kind === 'command') return `claude mcp add --transport http millrace ${url} --header "Authorization: Bearer ${token}"`
  if (kind === 'toml')
    return `[mcp_servers.millrace]\nurl = "${url}"\nbearer_token_env_var = "MILLRACE_TOKEN"\n# export MILLRACE_TOKEN=${token}`
  const servers = { millrace: server }
  return JSON.stringify(kind === 'vscode' ? { servers } : { mcpServers: servers }, null, 2)
}

/** Opens the client, which adds the server after a question; undefined for clients without such links. Without a token it signs in. */
export function installLinkOf({ name }: AgentClient, origin: string, token: string | undefined): string | undefined {
  const server = {
    type: 'http',
    url: `${origin}/mcp`,
    ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
  }
  if (name === 'Cursor')
    return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: 'millrace', config: btoa(JSON.stringify(server)) })}`
  if (name === 'VS Code') return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: 'millrace', ...server }))}`
  return undefined
}
