// bun run bench: Weir beside other proxies, on the same provider and clients. See options.ts.
import { resolve } from 'node:path'
import { chooseContenders } from './contenders.ts'
import { engineTables, measureEngine } from './engine/engine.ts'
import { listStored } from './list-stored.ts'
import { budgetTable, checkBudgets } from './measured-budgets.ts'
import { measureOverspend, overspendTable } from './overspend/overspend.ts'
import { type Options, readOptions, usage } from './options.ts'
import { measureParts } from './parts.ts'
import { publishedTables } from './published-tables.ts'
import { report } from './report.ts'
import { runBench } from './rounds.ts'
import { measureStart } from './start-time.ts'

const options = readOptions(process.argv.slice(2))
if (options.help) console.log(usage)
else await run(options)

async function run(options: Options): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('What a process costs is read from /proc, which only Linux has.')
  const { workloads, rounds, duration, syscalls, executable, includes } = options
  const contenders = await chooseContenders({
    executable,
    names: options.contenders,
    others: options.others,
  })
  const log = (line: string) => console.error(line)
  const bench = await runBench({
    contenders: workloads.length > 0 ? contenders : [],
    workloads,
    rounds,
    duration,
    syscalls,
    log,
  })
  const parts = includes('parts') ? await measureParts() : []
  const start = includes('start') ? await measureStart(resolve(executable)) : undefined
  const lists = includes('list-stored') ? await listStored() : undefined
  const overspend = includes('overspend') ? await measureOverspend(resolve(executable), log) : []
  const engine = includes('engine') ? await measureEngine(resolve(executable), options, log) : undefined
  const budgets = checkBudgets({ bench, start, lists: lists?.medians })

  console.log(report(bench, workloads, options.base))
  for (const { name, microseconds } of parts) console.log(`${name.padEnd(60)}${microseconds.toFixed(2)} µs`)
  if (lists) console.log(`\n${lists.text}`)
  if (overspend.length > 0) console.log(`\n## Overspend\n\n${overspendTable(overspend)}`)
  if (overspend.some(({ problems }) => problems.length > 0)) process.exitCode = 1
  if (engine) console.log(`\n## Engines with few slots\n\n${engineTables(engine)}`)
  console.log(`\n## Tables of the documentation\n\n${publishedTables(bench)}`)
  console.log(`\n## Budgets\n\n${budgetTable(budgets)}`)
  if (options.jsonFile !== undefined)
    await Bun.write(options.jsonFile, JSON.stringify({ ...bench, parts, start, budgets, overspend }, null, 2))
}
