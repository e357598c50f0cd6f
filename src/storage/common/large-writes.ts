import { PrintedJson } from '../../lib/json/printed.ts'
import { nextTurn } from '../../lib/time.ts'
import { type Ledger, noWrites, type Write } from '../ports/ledger.ts'

/** In characters: printing and storing less takes a few milliseconds. */
const minLarge = 1024 * 1024

/** Returns the same ledger, but for its large writes: other requests wait for the transaction that stores them. */
export function printLargeWrites(ledger: Ledger): Ledger {
  return {
    ...ledger,
    reserve: (reservation, writes = noWrites) =>
      printLarge(writes)?.then((printed) => ledger.reserve(reservation, printed)) ??
      ledger.reserve(reservation, writes),
    settle: (request, outcome, options) =>
      printLarge(options?.writes)?.then((writes) =>
        ledger.settle(request, outcome, { ...options, writes }),
      ) ?? ledger.settle(request, outcome, options),
    settleEventually: (request, outcome, writes) =>
      printLarge(writes)?.then((printed) => ledger.settleEventually(request, outcome, printed)) ??
      ledger.settleEventually(request, outcome, writes),
    write: (writes) => printLarge(writes)?.then(ledger.write) ?? ledger.write(writes),
  }
}

/** Prints each write in a turn of the event loop of its own; undefined if none is large. */
export function printLarge(writes: readonly Write[] = noWrites): Promise<readonly Write[]> | undefined {
  return writes.some(isLarge) ? printInTurns(writes) : undefined
}

async function printInTurns(writes: readonly Write[]): Promise<readonly Write[]> {
  const printed: Write[] = []
  for (const write of writes) {
    await nextTurn()
    printed.push(printWrite(write))
  }
  await nextTurn()
  return printed
}

function isLarge(write: Write): boolean {
  switch (write.kind) {
    case 'insert-completion':
      return textLength(write.completion.messages) >= minLarge
    case 'insert-response':
      return textLength(write.response.input) >= minLarge
    case 'finish-response':
      return false
  }
}

/** Returns the characters of all texts in a value; stops counting when it is large. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const member of Object.values(value)) {
    length += textLength(member)
    if (length >= minLarge) break
  }
  return length
}

function printWrite(write: Write): Write {
  switch (write.kind) {
    case 'insert-completion':
      return {
        ...write,
        completion: { ...write.completion, messages: new PrintedJson(write.completion.messages) },
      }
    case 'insert-response':
      return { ...write, response: { ...write.response, input: new PrintedJson(write.response.input) } }
    case 'finish-response':
      return write
  }
}
