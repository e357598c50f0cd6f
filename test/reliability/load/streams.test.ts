import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { startLoad } from './load.ts'

test('two thousand concurrent streams are each complete, at their pace', async () => {
  const load = { streams: 2000, chunks: 10, interval: 200 }
  await using scenario = await startLoad(load)
  const { texts, complete, gaps, span } = await scenario.ask()
  console.log(
    `${load.streams} streams: a chunk each ${gaps.median} ms, p99 ${gaps.p99} ms, in all ${span} ms`,
  )
  expect(texts).toEqual({ '0 1 2 3 4 5 6 7 8 9 ': load.streams })
  expect(complete).toBe(load.streams)
  expect(await scenario.mostOpen()).toBe(load.streams)
  expect(span).toBeLessThan(4 * load.chunks * load.interval)
}, 30_000)

test('more upstream calls than Bun’s default limit are open at once, in the process that was started', async () => {
  await using scenario = await startLoad({ streams: 300, chunks: 1, interval: 0 })
  const { texts, complete } = await scenario.ask()
  expect({ texts, whole: complete }).toEqual({ texts: { '0 ': 300 }, whole: 300 })
  expect(await scenario.mostOpen()).toBe(300)
  expect(await scenario.weir.stop()).toBe(0)
}, 30_000)

test.skipIf(process.platform !== 'linux')(
  'the restart that raises the limit keeps the arguments and the environment',
  async () => {
    await using scenario = await startLoad({ streams: 1, chunks: 1, interval: 0 })
    const received = async (name: string) =>
      (await readFile(`/proc/${scenario.weir.pid}/${name}`, 'utf8')).split('\0')
    const [program, ...args] = (await received('cmdline')).filter((word) => word !== '')
    expect(program).toBe(process.execPath)
    expect(args[0]).toEndWith('src/main.ts')
    expect(args.slice(1)).toEqual(['serve', '--host', '127.0.0.1', '--port', '0'])
    const environment = await received('environ')
    expect(environment).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
    expect(environment.filter((line) => line.startsWith('WEIR_DATA='))).toHaveLength(1)
  },
)
