import { expect } from 'bun:test'
import { waitUntil } from '../../../support/billing-database.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import type { Acknowledged } from '../../faults/support/kill-client.ts'
import { expectAsReceived, expectPaid, expectSettled } from '../../faults/support/kills.ts'
import { largestExcess, type Probed, probeLimit } from './limit-probe.ts'
import { watchOrphans } from './orphan-watch.ts'
import { askAnywhere, askAt, type ReplicaLoad, sendUntil } from './replica-load.ts'
import { repeatedRuns } from './repeated-runs.ts'
import { type ReplicaProvider, startReplicaProvider } from './replica-provider.ts'
import type { Replicas } from './replicas.ts'

export type ReplicaKillOptions = {
  readonly seed: string
  readonly kills: number
  /** Whether some are suspended instead, for a moment, or until the others have removed them. */
  readonly suspends?: boolean
  readonly start: (provider: string) => Promise<Replicas>
  readonly onKilled?: (kills: number) => void
}

const clients = 12
const probes = 3
/** The requests of a minute of the organization whose limit is probed. */
const smallLimit = 30
/** So many runs and paid requests are acknowledged before the load ends. */
const minAcknowledged = 20
/** More than the 15 seconds after a kill, because the last signs of life of the victim and of a witness are older. */
const maxOrphanMs = 20_000
const readers = 8
/** How many of the last objects are read at every process. */
const readEverywhere = 100

/**
 * Kills one of several gateways again and again while clients send all kinds of requests to all of them. Throws if
 * something acknowledged is missing anywhere, a run was sent twice or stays unfinished, a limit was exceeded, or the
 * billing is inconsistent.
 */
export async function killReplicas(options: ReplicaKillOptions) {
  const draw = randomFrom(options.seed)
  using provider = startReplicaProvider(draw)
  await using replicas = await options.start(provider.url)
  const { books } = replicas
  await books.fund('acme', '1000')
  await books.fund('small', '0', 'unmetered')
  await books.organizations.change('small', { requestsPerMinute: smallLimit })
  const key = await books.keyOf('acme')
  const ask = askAnywhere(replicas, key, draw)
  const memory: Acknowledged = { stored: [], paid: new Map() }
  const load: ReplicaLoad = { memory, ask, draw, findings: [], followed: { count: 0 } }
  const probed: Probed = { admitted: [], lost: 0, failed: [] }
  const askSmall = askAnywhere(replicas, await books.keyOf('small'), draw)

  using orphans = watchOrphans(books)
  const ended = new AbortController()
  const sending = [
    ...Array.from({ length: clients }, () => sendUntil(load, ended.signal)),
    ...Array.from({ length: probes }, () => probeLimit(askSmall, probed, ended.signal)),
  ]
  for (let kill = 1; kill <= options.kills; kill++) {
    await Bun.sleep(200 + draw() * 1000)
    await hitOne(replicas, draw, options.suspends === true)
    await books.expectConsistent()
    options.onKilled?.(kill)
  }
  // A killed gateway takes at most one request of each probe with it; all others use the limit up.
  const isEnough = () =>
    provider.runs.size > minAcknowledged &&
    memory.paid.size > minAcknowledged &&
    probed.admitted.length + probed.lost >= smallLimit
  await waitUntil(isEnough, 'enough requests')
  ended.abort()
  await Promise.all(sending)
  await expectAllSettled(replicas, provider, load)
  await expectKept(replicas, key, memory)
  if (options.suspends === true) expect(orphans.longestMs()).toBeLessThan(maxOrphanMs)
  expect(largestExcess(probed.admitted, smallLimit)).toBeLessThanOrEqual(0)
  if (options.suspends !== true) {
    expect(probed.lost).toBeLessThanOrEqual(probes * options.kills)
    expect(probed.failed).toEqual([])
  }
  return {
    kills: options.kills,
    stored: memory.stored.length,
    paid: memory.paid.size,
    runs: provider.runs.size,
    followed: load.followed.count,
    admitted: probed.admitted.length,
    lost: probed.lost,
    longestOpenMs: Math.round(orphans.longestMs()),
  }
}

async function hitOne(replicas: Replicas, draw: () => number, suspends: boolean): Promise<void> {
  const kind = suspends ? draw() : 1
  if (kind < 0.06) await replicas.suspendOne(draw, 13_000)
  else if (kind < 0.15) await replicas.suspendOne(draw, 4000)
  else await replicas.replaceOne(draw)
}

async function expectAllSettled(
  replicas: Replicas,
  provider: ReplicaProvider,
  load: ReplicaLoad,
): Promise<void> {
  const { books } = replicas
  const open = async () => [
    await books.openReservations(),
    await books.count("responses WHERE status IN ('queued', 'in_progress')"),
  ]
  await waitUntil(async () => (await open()).every((count) => count === 0), 'nothing is open')
  await expectSettled(replicas)
  expect(await books.count('runs')).toBe(0)
  await expectSums(replicas)
  expect(await repeatedRuns(replicas, provider, load.memory)).toEqual([])
  expect(load.findings).toEqual([])
  await expectPaid(replicas, [...load.memory.paid])
}

/** What was charged is what the requests have cost. */
async function expectSums({ books }: Replicas): Promise<void> {
  const [[cost] = []] = await books.values(
    "SELECT sum(cost) FROM usage u JOIN organizations o ON o.id = u.organization_id WHERE o.name = 'acme'",
  )
  const [[charged] = []] = await books.values("SELECT -sum(amount) FROM ledger WHERE kind = 'charge'")
  expect(Number(charged)).toBe(Number(cost))
}

/** Each process finds its share of all that was stored, and all of the last ones, whichever process has stored them. */
async function expectKept(replicas: Replicas, key: string, { stored }: Acknowledged): Promise<void> {
  const urls = replicas.urls()
  for (const [number, url] of urls.entries()) {
    const isRead = (index: number) =>
      index % urls.length === number || index >= stored.length - readEverywhere
    const left = stored.filter((_, index) => isRead(index)).values()
    const read = async () => {
      for (const known of left) await expectAsReceived(askAt(url, key), known)
    }
    await Promise.all(Array.from({ length: readers }, read))
  }
}
