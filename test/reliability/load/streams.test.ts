import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { weirCommand } from '../../support/weir-command.ts'
import { startLoad } from './load.ts'

test('more upstream calls than Bun’s default limit are open at once, in the process that was started', async () => {
  await using scenario = await startLoad({ streams: 300, chunks: 1, interval: 0 })
  const { texts, complete } = await scenario.ask()
  expect({ texts, whole: complete }).toEqual({ texts: { '0 ': 300 }, whole: 300 })
  expect(await scenario.mostOpen()).toBe(300)
  expect(await scenario.weir.stop()).toBe(0)
}, 120_000)

test.skipIf(process.platform !== 'linux')(
  'the restart that raises the limit keeps the arguments and the environment',
  async () => {
    await using scenario = await startLoad({ streams: 1, chunks: 1, interval: 0 })
    const received = async (name: string) =>
      (await readFile(`/proc/${scenario.weir.pid}/${name}`, 'utf8')).split('\0')
    const command = (await received('cmdline')).filter((word) => word !== '')
    expect(command).toEqual([...weirCommand, 'serve', '--host', '127.0.0.1', '--port', '0'])
    const environment = await received('environ')
    expect(environment).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
    expect(environment.filter((line) => line.startsWith('WEIR_DATA='))).toHaveLength(1)
  },
)
