import type { Database } from './connection/database.ts'

/** In bytes: a database that has no room for so much is full. */
const room = 64 * 1024

/**
 * Part of a transaction that proves that the database takes writes: a row of some size, made and taken away again. It
 * stands among the keys because those belong to nobody else; one without an id opens nothing.
 */
export function prepareWriteProbe({ sqlite }: Database): () => void {
  const insert = sqlite.prepare(
    'INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at) ' +
      `VALUES ('', '', '', zeroblob(${room}), '', 0)`,
  )
  const remove = sqlite.prepare("DELETE FROM api_keys WHERE public_id = ''")
  return () => {
    insert.run()
    remove.run()
  }
}
