import { hostname, userInfo } from 'node:os'
import type { Actor } from '../ports/audit.ts'

/** The user of the operating system who runs this process, on this machine. */
export function localActor(type: 'command_line' | 'settings', source: 'cli' | 'server'): Actor {
  return { type, id: null, name: userName(), source, address: hostname(), forwardedFor: null }
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
