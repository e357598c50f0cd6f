/** What JavaScript does while it is counted; the counting ends with its scope. */
export type CountedWork = Disposable & {
  during(work: () => Promise<unknown>): Promise<WorkCounts>
}

/** What was counted. */
export type WorkCounts = {
  /** Timers and deadlines that are set. */
  readonly timers: number
  /** JSON texts that are parsed. */
  readonly parsed: number
  /** Values that are serialized as JSON. */
  readonly serialized: number
  /** Bytes of buffers that are joined, and of texts that are decoded or encoded. */
  readonly copiedBytes: number
}

const nothing: WorkCounts = { timers: 0, parsed: 0, serialized: 0, copiedBytes: 0 }

/** Counts the calls of functions of the platform that take time or memory, in the whole process. */
export function countWork(): CountedWork {
  let counts = nothing
  const count = (kind: keyof WorkCounts, amount = 1) => {
    counts = { ...counts, [kind]: counts[kind] + amount }
  }
  const restore = [
    wrap(globalThis, 'setTimeout', () => count('timers')),
    wrap(globalThis, 'setInterval', () => count('timers')),
    wrap(AbortSignal, 'timeout', () => count('timers')),
    wrap(JSON, 'parse', () => count('parsed')),
    wrap(JSON, 'stringify', () => count('serialized')),
    wrap(Buffer, 'concat', (joined) => count('copiedBytes', (joined as Buffer).length)),
    wrap(TextDecoder.prototype, 'decode', (text) => count('copiedBytes', (text as string).length)),
    wrap(TextEncoder.prototype, 'encode', (bytes) => count('copiedBytes', (bytes as Uint8Array).length)),
  ]
  return {
    async during(work) {
      counts = nothing
      await work()
      return counts
    },
    [Symbol.dispose]: () => restore.forEach((undo) => undo()),
  }
}

type Functions = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** Calls `onResult` with the result of each call of a function; returns what undoes it. */
function wrap(owner: object, name: string, onResult: (result: unknown) => void): () => void {
  const original = (owner as Functions)[name]
  if (original === undefined) throw new Error(`There is no function ${name}.`)
  const counted = function (this: unknown, ...args: unknown[]) {
    const result = original.apply(this, args)
    onResult(result)
    return result
  }
  Object.assign(owner, { [name]: counted })
  return () => void Object.assign(owner, { [name]: original })
}
