import { ask, type Asked, quantile, type Question } from './ask.ts'
import { type Engines, startEngines } from './start.ts'

/** What two keys get of one engine with four slots: one with fifty callers, and one with a single one. */
export type QueueFigures = {
  /** The slots in use at each step of the engine, on average, without Weir and through it: more answers need more. */
  readonly engineSlots: number
  readonly weirSlots: number
  /** Milliseconds of one answer at the engine while all slots are in use, in the median. */
  readonly serviceMs: number
  /** Milliseconds that the single caller waits for a slot, of twenty requests nineteen, without Weir and through it. */
  readonly engineWaitMs: number
  readonly weirWaitMs: number
}

const busyCallers = 50
const question: Question = {
  messages: [{ role: 'user', content: 'How high is the weir, and who has built it? '.repeat(10) }],
  maxTokens: 100,
}

/** Measures the engine alone and through Weir in turns, so that both meet the same load of the machine. */
export async function measureQueue(
  command: readonly string[],
  executable: string,
  rounds: number,
  durationMs: number,
): Promise<QueueFigures> {
  await using started = await startEngines(command, { executable, count: 1, affinity: 'none', queues: true })
  const { engines, weir, keys } = started
  const engine = engines[0] ?? ''
  const [direct, through]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const alone = await measure(engine, engine, keys, durationMs)
    const behind = await measure(weir, engine, keys, durationMs)
    // The first round warms up.
    if (round === 0) continue
    direct.push(alone)
    through.push(behind)
  }
  const slots = (all: readonly Measured[]) => all.reduce((sum, { busySlots }) => sum + busySlots, 0) / rounds
  const single = (all: readonly Measured[]) => all.flatMap(({ single }) => single)
  const waits = (all: readonly Measured[]) => single(all).map(({ totalMs, engineMs }) => totalMs - engineMs)
  return {
    engineSlots: slots(direct),
    weirSlots: slots(through),
    serviceMs: quantile(
      single(through).map(({ engineMs }) => engineMs),
      0.5,
    ),
    engineWaitMs: quantile(waits(direct), 0.95),
    weirWaitMs: quantile(waits(through), 0.95),
  }
}

/** The slots in use, on average, and the answers to the single caller. */
type Measured = { readonly busySlots: number; readonly single: readonly Asked[] }

/** Milliseconds until all callers have a request at the engine. */
const warmUpMs = 1000

/**
 * Fifty callers of the first key and one of the second send requests, one after the other, for the time. Requests that are
 * still open then are awaited: the engine goes on with what was aborted.
 */
async function measure(
  url: string,
  engine: string,
  keys: Engines['keys'],
  durationMs: number,
): Promise<Measured> {
  const over = new AbortController()
  const single: Asked[] = []
  async function call(index: number): Promise<void> {
    while (!over.signal.aborted) {
      const asked = await ask(url, keys[index] ?? '', question)
      if (index === 1) single.push(asked)
    }
  }
  const calls = [...Array.from({ length: busyCallers }, () => call(0)), call(1)]
  await Bun.sleep(warmUpMs)
  const before = await stepsOf(engine)
  await Bun.sleep(durationMs)
  const after = await stepsOf(engine)
  over.abort()
  await Promise.all(calls)
  return { busySlots: (after.busy - before.busy) / (after.count - before.count), single }
}

/** How many steps the engine has made, and the sum of the slots in use at each. */
async function stepsOf(engine: string): Promise<{ readonly count: number; readonly busy: number }> {
  const text = await (await fetch(new URL('/metrics', engine))).text()
  const value = (name: string) => Number(new RegExp(`^llamacpp:${name} (.*)$`, 'm').exec(text)?.[1])
  const count = value('n_decode_total')
  return { count, busy: count * value('n_busy_slots_per_decode') }
}
