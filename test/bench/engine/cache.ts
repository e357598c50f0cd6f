import { ask, type Asked, quantile } from './ask.ts'
import { startEngines } from './start.ts'

/** What the engines have found in their caches of the prompts of all sessions. */
export type CacheFigures = {
  readonly affinity: 'session' | 'none'
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Milliseconds of a turn, in the median. */
  readonly turnMs: number
}

const engines = 2
const sessions = 4
const turns = 20
/** A token of the model is a character. */
const charactersPerTurn = 200

/** Lets four sessions of twenty turns go on at once through two engines, which have slots for more, with and without affinity. */
export async function measureCache(
  command: readonly string[],
  executable: string,
): Promise<readonly CacheFigures[]> {
  const figures: CacheFigures[] = []
  for (const affinity of ['session', 'none'] as const) {
    const options = { executable, count: engines, affinity, queues: true }
    await using started = await startEngines(command, options)
    const key = started.keys[0] ?? ''
    const all = await Promise.all(
      Array.from({ length: sessions }, (_, id) => converse(started.weir, key, id)),
    )
    const asked = all.flat()
    const sum = (count: (one: Asked) => number) => asked.reduce((total, one) => total + count(one), 0)
    figures.push({
      affinity,
      promptTokens: sum(({ promptTokens }) => promptTokens),
      cachedTokens: sum(({ cachedTokens }) => cachedTokens),
      turnMs: quantile(
        asked.map(({ totalMs }) => totalMs),
        0.5,
      ),
    })
  }
  return figures
}

/** One session: every turn sends the whole conversation. Its text is the same in each run, and not that of another session. */
async function converse(url: string, key: string, id: number): Promise<readonly Asked[]> {
  const messages: { role: string; content: string }[] = []
  const asked: Asked[] = []
  for (let turn = 0; turn < turns; turn++) {
    const content = `Session ${id}, turn ${turn}. `.repeat(20).slice(0, charactersPerTurn)
    messages.push({ role: 'user', content })
    const { text, ...figures } = await ask(url, key, { messages, maxTokens: 16, session: `session-${id}` })
    messages.push({ role: 'assistant', content: text })
    asked.push(figures)
  }
  return asked
}
