import { join } from 'node:path'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createKeys } from '../../src/storage/sqlite/keys/keys.ts'
import { createOrganizations } from '../../src/storage/sqlite/organizations/organizations.ts'
import { createWriter } from '../../src/storage/sqlite/writer/writer.ts'
import { quietLog, temporaryFolder } from '../unit/storage/support/folder.ts'

/** The rate limits in the headers of a reply. */
export function limitHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => /^x-ratelimit-|^retry-after/.test(name)))
}

/** A database in a file, and what another process could do with it while the gateway serves from it. */
export function sharedDatabase() {
  const file = join(temporaryFolder(), 'weir.db')

  /** The header of a new key of this organization, which is made if there is none. */
  async function keyOf(name: string): Promise<{ authorization: string }> {
    using database = openOther()
    const organizations = createOrganizations(database, database.writer)
    const known = (await organizations.list()).some((account) => account.name === name)
    if (!known) await organizations.create(name)
    const keys = createKeys(database, database.writer)
    const { key } = await keys.create({ organization: name, name: 'test', expiresAt: null })
    return { authorization: `Bearer ${key.reveal()}` }
  }

  function setLimit(name: string, column: `${string}_per_minute`, limit: number): void {
    using database = openOther()
    database.sqlite.run(`UPDATE organizations SET ${column} = ? WHERE name = ?`, [limit, name])
  }

  function openOther() {
    const database = openDatabase(file, quietLog)
    return { ...database, writer: createWriter(database), [Symbol.dispose]: () => database.close() }
  }

  return { file, keyOf, setLimit }
}
