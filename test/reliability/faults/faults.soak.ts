import { expect, test } from 'bun:test'
import { soakSeed } from '../../support/seed.ts'
import { dropStreams } from './support/drops.ts'
import { fuzz } from './support/fuzz.ts'
import { holdConnections } from './support/held-connections.ts'
import { killUnderLoad } from './support/kills.ts'
import { sendShapes, unwanted } from './support/shapes.ts'

/** In MiB. */
const maxGrowth = { drops: 60, fuzz: 400, shapes: 1500 }
/** In milliseconds. */
const maxWait = 1000

test('connections that are held open with nothing sent are closed, and others are served meanwhile', async () => {
  const { served, open } = await holdConnections()
  expect(served).toBe(true)
  expect(Object.values(open).filter((count) => count > 0)).toEqual([])
})

test('a hundred kills under every kind of load lose nothing that was acknowledged', async () => {
  const killed = await killUnderLoad(100, soakSeed, reportTenth)
  console.log(JSON.stringify(killed))
  expect(killed.stored).toBeGreaterThan(1000)
  expect(killed.paid).toBeGreaterThan(1000)
})

test('twenty thousand dropped streams leave no open call and no memory behind', async () => {
  const { memory, open } = await dropStreams(20_000, soakSeed, 10)
  console.log(JSON.stringify(memory))
  expect(open.filter((count) => count > 0)).toEqual([])
  expect((memory.at(-1) ?? 0) - (memory[0] ?? 0)).toBeLessThan(maxGrowth.drops)
})

test('requests of hostile shapes get no 5xx but 503, are bounded in memory, and delay others by a second at most', async () => {
  const shaped = await sendShapes(1)
  console.log(JSON.stringify(shaped))
  const { before = 0, ...others } = shaped.memory
  expect(unwanted(shaped)).toEqual([])
  expect(Math.max(...Object.values(others)) - before).toBeLessThan(maxGrowth.shapes)
  expect(Math.max(...Object.values(shaped.waits))).toBeLessThan(maxWait)
  expect([shaped.held, shaped.open]).toEqual([0, 0])
})

test('random requests for three minutes cause no internal error, no hang and no crash', async () => {
  const { log, findings, alive, growth, requests } = await fuzz({ seed: soakSeed, time: 180_000 })
  console.log(JSON.stringify({ requests, growth }))
  expect(findings).toEqual([])
  expect(log).not.toMatch(/"level":"(error|warn)"|reject/)
  expect(alive).toBe(true)
  if (!Number.isNaN(growth)) expect(growth).toBeLessThan(maxGrowth.fuzz)
})

function reportTenth(kills: number): void {
  if (kills % 10 === 0) console.log(`  ${kills} kills`)
}
