import type { Write } from '../ports/writes.ts'
import { insertCompletion } from './completion-search.ts'
import type { Database } from './connection/database.ts'
import { prepareResponseWrites } from './responses/response-writes.ts'

/** Part of a transaction: executes writes in their order. */
export type ExecuteWrites = (writes: readonly Write[]) => void

export function prepareWrites(database: Database): ExecuteWrites {
  const responses = prepareResponseWrites(database)

  function execute(write: Write): void {
    switch (write.kind) {
      case 'insert-completion':
        return database.run(insertCompletion(write.completion))
      case 'insert-response':
        return responses.insert(write.response)
      case 'finish-response':
        return void responses.finish(write.organization, write.id, write.end)
    }
  }

  return (writes) => {
    for (const write of writes) execute(write)
  }
}
