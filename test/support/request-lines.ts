import type { Sink } from '../../src/observability/request-log/line-writer.ts'
import { type Fields, fieldsOf } from '../../src/lib/json/json.ts'

/** The lines of requests, as they would come on standard output. */
export type RequestLines = {
  readonly sink: Sink
  readonly all: readonly string[]
  /** Resolves with the last line of the request with this reply, when it has this many lines. */
  of(reply: Response, count?: number): Promise<Fields>
  /** The same for the request with this id. */
  withId(id: string, count?: number): Promise<Fields>
  /** Resolves when there are more lines than this. */
  beyond(count: number): Promise<void>
}

export function createRequestLines(): RequestLines {
  const all: string[] = []
  let wake = () => {}
  let next = new Promise<void>((resolve) => (wake = resolve))

  function write(text: string, written: () => void): void {
    all.push(...text.trimEnd().split('\n'))
    wake()
    next = new Promise((resolve) => (wake = resolve))
    written()
  }

  async function withId(id: string, count = 1): Promise<Fields> {
    for (;;) {
      const found = all.map((line) => fieldsOf(JSON.parse(line))).filter(({ request }) => request === id)
      if (found.length >= count) return fieldsOf(found.at(-1))
      await next
    }
  }

  async function beyond(count: number): Promise<void> {
    while (all.length <= count) await next
  }

  return {
    sink: { write },
    all,
    beyond,
    of: ({ headers }, count) => withId(headers.get('x-request-id') ?? '', count),
    withId,
  }
}
