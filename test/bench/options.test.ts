import { expect, onTestFinished, test } from 'bun:test'
import { chooseContenders } from './contenders.ts'
import { readOptions } from './options.ts'
import { lasting, paced } from './workload.ts'

test.each([
  [['--duration', '2.5'], 2500],
  [['--minutes', '2'], 120_000],
  [['--quick'], 500],
  [[], 1000],
])('the arguments %j of the bench mean rounds of %i ms', (args, duration) => {
  expect(readOptions(args).duration).toBe(duration)
})

test.each([
  [['--only', 'chat-smal'], 'There is no work chat-smal.'],
  [['--minutes', '0'], '--minutes must be a number greater than 0.'],
  [['--minutes', '1', '--duration', '60'], 'Set either --duration or --minutes.'],
])('the bench rejects the arguments %j', (args, sentence) => {
  expect(() => readOptions(args)).toThrow(sentence)
})

test('streams at a pace last as long as the measurement, and never shorter than usual', () => {
  const usual = paced(300, 20, 100)
  expect(lasting(usual, 800)).toEqual(usual)
  const long = lasting(usual, 60_000)
  expect([long.upstream.chunks, long.load]).toEqual([3000, { type: 'paced', streams: 300, chunks: 3000 }])
})

test('a contender without its executable takes part only where it is wanted, and says which variable to set', async () => {
  const { BUSBAR } = process.env
  delete process.env.BUSBAR
  onTestFinished(() => void (BUSBAR !== undefined && Object.assign(process.env, { BUSBAR })))
  const choice = { executable: process.execPath, others: [] }
  const usual = await chooseContenders(choice)
  expect(usual.map(({ name }) => name)).not.toContain('busbar')
  const [busbar] = await chooseContenders({ ...choice, names: ['busbar'] })
  const place = { upstream: 'http://127.0.0.1:9', folder: '/nonexistent', downloads: '/nonexistent' }
  expect(await busbar?.start(place)).toBe('busbar needs the path of its executable in BUSBAR.')
  expect(chooseContenders({ ...choice, names: ['busbarr'] })).rejects.toThrow(
    'There is no contender busbarr.',
  )
})
