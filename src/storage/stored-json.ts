import { parseList } from '../lib/json/parse-list.ts'

/** Something that was stored and cannot be read any more. Its message says what, and nothing of what that holds. */
export class UnreadableError extends Error {
  constructor(what: string) {
    super(`The stored ${what} cannot be read.`)
    this.name = 'UnreadableError'
  }
}

/** What the work reads of something stored; throws `UnreadableError` where it fails for whatever reason. */
export function readStored<Value>(what: string, work: () => Value): Value {
  try {
    return work()
  } catch {
    throw new UnreadableError(what)
  }
}

/** A value that was stored as JSON; throws `UnreadableError` where the text is no JSON. */
export function parseStored<Value>(what: string, json: string): Value {
  return readStored(what, () => JSON.parse(json) as Value)
}

/** A list that was stored as JSON, parsed in slices with other work between; rejects with `UnreadableError` as above. */
export async function parseStoredList<Item>(what: string, json: string): Promise<readonly Item[]> {
  try {
    return (await parseList(json)) as readonly Item[]
  } catch {
    throw new UnreadableError(what)
  }
}
