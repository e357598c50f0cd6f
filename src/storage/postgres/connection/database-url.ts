import type { Secret } from '../../../lib/secret.ts'

/** Returns the host and the name of a database, without the user, the password and the options of its URL. */
export function databaseLabel(url: Secret): string {
  const { host, pathname, searchParams } = new URL(url.reveal())
  return `${host || searchParams.get('host') || 'localhost'}${pathname}`
}
