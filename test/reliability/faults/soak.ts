// The long form of what the gate does for a moment: bun run test:soak [drops|kills|replicas|workers|fuzz|held|shapes]. It takes about
// twenty minutes, tells how far it has come, and ends with 1 where something was found. WEIR_TEST_SEED repeats a run.
import { killReplicas } from '../processes/support/replica-kills.ts'
import { startReplicas, startWorkerReplicas } from '../processes/support/replicas.ts'
import { dropStreams } from './support/drops.ts'
import { fuzz } from './support/fuzz.ts'
import { holdConnections } from './support/held-connections.ts'
import { killUnderLoad } from './support/kills.ts'
import { sendShapes, unwanted } from './support/shapes.ts'

const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())

/** In MiB. */
const maxGrowth = { drops: 60, fuzz: 400, shapes: 1500 }
/** In milliseconds. */
const maxWait = 1000

const parts: Readonly<Record<string, () => Promise<object>>> = {
  async held() {
    const held = await holdConnections()
    expectTrue(held.served, 'others are answered')
    expectTrue(
      Object.values(held.open).every((count) => count === 0),
      'no connection is held for ever',
    )
    return held
  },
  async kills() {
    return await killUnderLoad(100, seed, reportTenth)
  },
  async replicas() {
    const start = (provider: string) => startReplicas(3, provider)
    return await killReplicas({ seed, kills: 100, suspends: true, start, onKilled: reportTenth })
  },
  async workers() {
    const start = (provider: string) => startWorkerReplicas(3, provider)
    return await killReplicas({ seed, kills: 100, suspends: true, start, onKilled: reportTenth })
  },
  async drops() {
    const dropped = await dropStreams(20_000, seed, 10)
    const [first = 0] = dropped.memory
    expectTrue(
      dropped.open.every((count) => count === 0),
      'no call is open',
    )
    expectTrue((dropped.memory.at(-1) ?? 0) - first < maxGrowth.drops, 'memory is back')
    return dropped
  },
  async shapes() {
    const shaped = await sendShapes(1)
    const { before = 0, ...others } = shaped.memory
    expectTrue(unwanted(shaped).length === 0, 'no reply is a 5xx other than 503')
    expectTrue(Math.max(...Object.values(others)) - before < maxGrowth.shapes, 'memory is in bounds')
    expectTrue(Math.max(...Object.values(shaped.waits)) < maxWait, 'others are answered within a second')
    expectTrue(shaped.held === 0 && shaped.open === 0, 'nothing is held, and no call is open')
    return shaped
  },
  async fuzz() {
    const { log, findings, ...fuzzed } = await fuzz({ seed, time: 180_000 })
    for (const finding of findings) console.log(finding)
    expectTrue(findings.length === 0, 'no reply that must not be')
    expectTrue(!/"level":"(error|warn)"|reject/.test(log), 'nothing was logged')
    expectTrue(fuzzed.alive, 'the gateway is alive')
    expectTrue(!(fuzzed.growth > maxGrowth.fuzz), 'memory is in bounds')
    return fuzzed
  },
}

function reportTenth(kills: number): void {
  if (kills % 10 === 0) console.log(`  ${kills} kills`)
}

let found = 0

function expectTrue(claim: boolean, name: string): void {
  if (claim) return
  found += 1
  console.log(`  NOT SO: ${name}`)
}

async function soak(names: readonly string[]): Promise<void> {
  console.log(`WEIR_TEST_SEED=${seed}`)
  for (const name of names) {
    console.log(name)
    const startedAt = performance.now()
    try {
      const part = parts[name]
      if (!part) throw new Error(`There is no ${name}: only ${Object.keys(parts).join(', ')}.`)
      console.log(`  ${JSON.stringify(await part())}`)
    } catch (error) {
      expectTrue(false, error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  }
  console.log(found === 0 ? 'Nothing was found.' : `${found} found.`)
  process.exitCode = found === 0 ? 0 : 1
}

if (import.meta.main) await soak(process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts))
