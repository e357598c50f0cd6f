// bun run bench: Weir beside other proxies, on the same provider and clients. See `usage`.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compile } from '../../src/build/compile.ts'
import { projectFolder } from '../support/source.ts'
import type { Contender } from './contender.ts'
import { listStored } from './list-stored.ts'
import { measureParts } from './parts.ts'
import { bareProxies, direct, nginx } from './plain-proxies.ts'
import { portkey } from './portkey.ts'
import { report } from './report.ts'
import { runBench } from './rounds.ts'
import { weir } from './weir.ts'
import { workloads } from './workloads.ts'

const usage = `Usage
  bun run bench [--quick] [--only WORK,…] [--contenders NAME,…] [--rounds N] [--base NAME] [--json FILE]

  --quick             the most telling work, a minute
  --only WORK,…       of: ${workloads.map(({ name }) => name).join(', ')}; parts, list-stored
  --contenders NAME,… of: direct, bun-pipe, bun-read, bun-parse, nginx, portkey, weir,
                      weir-unmetered, weir-log-off
  --rounds N          how often each is measured; 3 unless set
  --base NAME         whose processor time is 1; bun-pipe unless set
  --executable FILE   the executable that is Weir; dist/weir unless set, built where it is missing
  --weir NAME=FILE    one more of it, to compare with
  --json FILE         every figure of every round`

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    contenders: { type: 'string' },
    rounds: { type: 'string' },
    base: { type: 'string', default: 'bun-pipe' },
    weir: { type: 'string', multiple: true, default: [] },
    executable: { type: 'string', default: join(projectFolder, 'dist/weir') },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (flags.help) console.log(usage)
else await run()

async function run(): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('What a process costs is read from /proc, which only Linux has.')
  const contenders = await chosenContenders()
  const chosen = workloads.filter(
    ({ name, quick }) => flags.only?.split(',').includes(name) ?? (!flags.quick || quick),
  )
  const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3))
  const duration = flags.quick ? 800 : 1000
  const bench = await runBench({
    contenders,
    workloads: chosen,
    rounds,
    duration,
    say: (line) => console.error(line),
  })
  console.log(report(bench, chosen, flags.base))
  const parts = asked('parts') ? await measureParts() : []
  for (const { name, microseconds } of parts) console.log(`${name.padEnd(60)}${microseconds.toFixed(2)} µs`)
  if (!flags.quick && asked('list-stored')) console.log(`\n${await listStored()}`)
  if (flags.json !== undefined) await Bun.write(flags.json, JSON.stringify({ ...bench, parts }, null, 2))
}

/** Whether the requested work does not involve contenders. */
function asked(work: string): boolean {
  return flags.only?.split(',').includes(work) ?? true
}

async function chosenContenders(): Promise<Contender[]> {
  const executable = resolve(flags.executable)
  if (!existsSync(executable)) await compile(join(projectFolder, 'src/main.ts'), executable)
  const all = [
    direct,
    ...bareProxies,
    nginx,
    portkey,
    weir({ name: 'weir', executable, prepaid: true }),
    weir({ name: 'weir-unmetered', executable, prepaid: false }),
    weir({ name: 'weir-log-off', executable, prepaid: true, settings: { log: 'off' } }),
  ]
  const few = ['direct', 'bun-pipe', 'bun-read', 'weir', 'weir-unmetered']
  const wanted = flags.contenders?.split(',') ?? (flags.quick ? few : undefined)
  const others = flags.weir.map((text) => {
    const [name = '', file = ''] = text.split('=')
    return weir({ name, executable: resolve(file), prepaid: !name.endsWith('-u') })
  })
  return [...all.filter(({ name }) => wanted?.includes(name) ?? true), ...others]
}
