import { readFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import type { Actor } from './ports/audit.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The user who runs this process; with sudo, the one who has called that. */
export function localActor(
  type: 'command_line' | 'settings',
  source: 'cli' | 'server',
  { SUDO_USER: caller }: Environment = {},
): Actor {
  return { type, id: null, name: caller || userName(), source, address: hostname(), forwardedFor: null }
}

/** By the id of the process, where that has a name: Bun has the name from the environment, which may have any or none. */
function userName(): string {
  const id = process.getuid?.()
  if (id === undefined) return userInfo().username
  const [, name] = new RegExp(`^([^:\n]+):[^:\n]*:${id}:`, 'm').exec(readUsers()) ?? []
  if (name !== undefined) return name
  const { username } = userInfo()
  return username === 'unknown' ? `user ${id}` : username
}

/** Absent in some containers; macOS and directories keep most users elsewhere. */
function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}
