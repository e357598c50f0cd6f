import type { Secret } from '../../../lib/secret.ts'

/**
 * Returns the host and the name of a database, without the user, the password and the options of its URL. Throws an error
 * for the operator, which does not show the URL, if that is not valid.
 */
export function databaseLabel(url: Secret): string {
  const parsed = URL.parse(url.reveal())
  if (parsed === null)
    throw new Error(
      'The URL of the database is not valid. Special characters in a password are written as in %23 for #, or %2F for /.',
    )
  const { host, pathname, searchParams } = parsed
  return `${host || searchParams.get('host') || 'localhost'}${pathname}`
}
