import { parseList } from '../../lib/json/json-text.ts'

/** Stored data that cannot be read. Its message names the object, and nothing of its content. */
export class UnreadableError extends Error {
  constructor(name: string) {
    super(`The stored ${name} cannot be read.`)
    this.name = 'UnreadableError'
  }
}

/** Returns what `work` reads of a stored object; throws `UnreadableError` if it throws anything. */
export function readStored<Value>(name: string, work: () => Value): Value {
  try {
    return work()
  } catch {
    throw new UnreadableError(name)
  }
}

/** Parses stored JSON; throws `UnreadableError` if the text is not JSON. */
export function parseStored<Value>(name: string, json: string): Value {
  return readStored(name, () => JSON.parse(json) as Value)
}

/** Parses a stored JSON list in slices, so that other work runs between them; rejects with `UnreadableError`. */
export async function parseStoredList<Item>(name: string, json: string): Promise<readonly Item[]> {
  try {
    return (await parseList(json)) as readonly Item[]
  } catch {
    throw new UnreadableError(name)
  }
}
