import { onTestFinished } from 'bun:test'
import { connectDatabase, newDatabase } from './database-connection.ts'

/** The rate limits in the headers of a reply. */
export function limitHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => /^x-ratelimit-|^retry-after/.test(name)))
}

/** An empty database, and what another process could do with it while the gateway serves from it. */
export async function sharedDatabase() {
  const created = await newDatabase()
  onTestFinished(created.delete)
  const { location } = created

  /** The header of a new key of this organization, which is made if there is none. */
  async function keyOf(name: string): Promise<{ authorization: string }> {
    await using other = await connectDatabase(location)
    const known = (await other.organizations.list()).some((account) => account.name === name)
    if (!known) await other.organizations.create(name)
    const { key } = await other.keys.create({ organization: name, name: 'test', expiresAt: null })
    return { authorization: `Bearer ${key.reveal()}` }
  }

  async function setLimit(name: string, column: `${string}_per_minute`, limit: number): Promise<void> {
    await using other = await connectDatabase(location)
    await other.rows(`UPDATE organizations SET ${column} = ? WHERE name = ?`, limit, name)
  }

  return { location, keyOf, setLimit }
}
