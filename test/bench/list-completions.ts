import type { CompletionQuery } from '../../src/storage/ports/completions.ts'
import { completionSearch } from '../../src/storage/sqlite/completion-search.ts'
import { plansOf } from '../support/query-plans.ts'
import { openCompletions, organizations } from './stored-completions.ts'

/** `bun test/bench/list-completions.ts FILE`: the time that each question to a seeded database takes. */
const [, , file] = process.argv
if (file === undefined) throw new Error('Which file?')

const runs = 25
const [organization] = organizations
const { sqlite, database, completions, close } = openCompletions(file)
const usual: CompletionQuery = { organization, metadata: [], order: 'asc', limit: 20 }

function idsOf(place: string): string[] {
  const query = sqlite.prepare<{ readonly id: string }, []>(
    `SELECT id FROM completions WHERE organization_id = '${organization}' ${place}`,
  )
  return query.all().map(({ id }) => id)
}

const rows = Number(sqlite.prepare('SELECT count(*) FROM completions').values()[0]?.[0])
const [middle = ''] = idsOf(`ORDER BY sequence LIMIT 1 OFFSET ${Math.floor(rows / 2)}`)
// Spread over the table, so that not all of them lie in a page that was just read.
const spread = idsOf(`AND sequence % 997 = 0 ORDER BY sequence LIMIT ${runs * 3}`)
const some = (number: number) => spread[number % spread.length] ?? middle

const common: CompletionQuery['metadata'] = [
  ['parity', 'even'],
  ['stage', 'live'],
]
const apart: CompletionQuery['metadata'] = [
  ['parity', 'even'],
  ['twin', 'odd'],
  ['stage', 'live'],
]
const rare: CompletionQuery['metadata'] = [['customer', 'c17']]

const lists: Readonly<Record<string, Partial<CompletionQuery>>> = {
  'list, first page': {},
  'list, first page, newest first': { order: 'desc' },
  'list, a hundred': { limit: 100 },
  'list, behind the middle': { after: middle },
  'list, by model': { model: 'acme/river-3' },
  'list, by model, behind the middle': { model: 'acme/river-3', after: middle },
  'list, one rare pair': { metadata: rare },
  'list, one rare pair and a model': { metadata: rare, model: 'acme/river-3' },
  'list, one common pair': { metadata: common.slice(0, 1) },
  'list, one common pair, behind the middle': { metadata: common.slice(0, 1), after: middle },
  'list, two common pairs': { metadata: common },
  'list, two common pairs, newest first': { metadata: common, order: 'desc' },
  'list, two common pairs and a model': { metadata: common, model: 'acme/river-3' },
  'list, three common pairs that never meet': { metadata: apart },
  'list, the same, newest first': { metadata: apart, order: 'desc' },
  'list, the same, with a model': { metadata: apart, model: 'acme/river-3' },
  'list, a rare pair and one that it never meets': { metadata: [...rare, ['gauge', 'none']] },
}

async function measure(name: string, ask: (run: number) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await ask(run)
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const [median = 0, worst = 0] = [times[Math.floor(runs / 2)], times.at(-1)]
  console.log(
    `${name.padEnd(48)} median ${median.toFixed(2).padStart(7)}  worst ${worst.toFixed(2).padStart(7)} ms`,
  )
}

console.log(`${rows} completions`)
for (const [name, query] of Object.entries(lists)) {
  await measure(name, () => completions.list({ ...usual, ...query }))
}
await measure('retrieve', (run) => completions.find(organization, some(run)))
await measure('messages', (run) => completions.findMessages(organization, some(run)))
await measure('update', (run) => completions.updateMetadata(organization, some(run), { stage: 'again' }))
await measure('delete', (run) => completions.remove(organization, some(run + runs)))
await measure('expire, a step', () => completions.expire(Date.UTC(2026, 0, 1) + 3_600_000))
const plans = plansOf(database, ({ run }) => {
  for (const query of Object.values(lists)) run(completionSearch.find({ ...usual, ...query }, 20))
})
for (const [text, plan] of plans) console.log(`${text}\n  ${plan}`)
close()
