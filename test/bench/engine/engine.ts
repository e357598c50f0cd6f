import { type CacheFigures, measureCache } from './cache.ts'
import { measureQueue, type QueueFigures } from './queue.ts'
import { llamaServer } from './start.ts'

/** What engines with few slots do behind Weir. */
export type EngineFigures = {
  readonly queue: QueueFigures
  readonly cache: readonly CacheFigures[]
}

/** One answer takes half a second. */
const minDurationMs = 8000

/** Measures the llama.cpp that `LLAMA_SERVER` and `LLAMA_MODEL` name, behind the executable; undefined without it. */
export async function measureEngine(
  executable: string,
  { rounds, duration }: { readonly rounds: number; readonly duration: number },
  log: (line: string) => void,
): Promise<EngineFigures | undefined> {
  const command = llamaServer()
  if (command === undefined) {
    log('engine: set LLAMA_SERVER and LLAMA_MODEL to the paths of llama-server and of a model.')
    return undefined
  }
  log('engine: sessions of twenty turns …')
  const cache = await measureCache(command, executable)
  log('engine: two keys, one with fifty callers …')
  return { queue: await measureQueue(command, executable, rounds, Math.max(duration, minDurationMs)), cache }
}

/** Renders the figures as two tables in Markdown. */
export function engineTables({ queue, cache }: EngineFigures): string {
  const { engineSlots, weirSlots, serviceMs, engineWaitMs, weirWaitMs } = queue
  const rows = [
    ['the engine alone', engineSlots, engineWaitMs],
    ['through Weir', weirSlots, weirWaitMs],
  ] as const
  const lines = rows.map(([name, used, waitMs]) => [name, used.toFixed(2), (waitMs / serviceMs).toFixed(1)])
  const cached = cache.map(({ affinity, promptTokens, cachedTokens, turnMs }) => [
    affinity,
    promptTokens,
    promptTokens - cachedTokens,
    `${((100 * cachedTokens) / promptTokens).toFixed(1)} %`,
    turnMs.toFixed(0),
  ])
  return [
    table(['fifty callers and one', 'slots in use', 'p95 wait of the one, in answers'], lines),
    table(['affinity', 'prompt tokens', 'processed', 'cached', 'one turn, ms'], cached),
  ].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---:')), ...rows.map(line)].join('\n')
}
