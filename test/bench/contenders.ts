import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compile } from '../../src/build/compile.ts'
import { projectFolder } from '../support/source.ts'
import { busbar } from './busbar.ts'
import type { Contender } from './contender.ts'
import { gomodel } from './gomodel.ts'
import { bareProxies, direct, leastGateways, nginx } from './plain-proxies.ts'
import { portkey } from './portkey.ts'
import { weir } from './weir.ts'

/** Which contenders take part. */
export type ContenderChoice = {
  /** The executable that is Weir; it is built where it is missing. */
  readonly executable: string
  /** All those that are available, unless set. */
  readonly names?: readonly string[]
  /** More executables of Weir, as NAME=FILE; those whose name ends with -u are unmetered. */
  readonly others: readonly string[]
}

/** Returns the contenders that are wanted, in the order of the tables. */
export async function chooseContenders(choice: ContenderChoice): Promise<readonly Contender[]> {
  const executable = resolve(choice.executable)
  if (!existsSync(executable)) await compile(join(projectFolder, 'src/main.ts'), executable)
  const all = allContenders(executable)
  const others = choice.others.map(otherWeir)
  const known = new Set([...all, ...others].map(({ name }) => name))
  const unknown = choice.names?.find((name) => !known.has(name))
  if (unknown !== undefined) throw new Error(`There is no contender ${unknown}. See --help.`)
  const chosen = all.filter((one) => choice.names?.includes(one.name) ?? takesPart(one))
  return [...chosen, ...others]
}

function allContenders(executable: string): readonly Contender[] {
  return [
    direct,
    ...bareProxies,
    ...leastGateways,
    nginx,
    busbar,
    gomodel,
    portkey,
    weir({ name: 'weir', executable, prepaid: true }),
    weir({ name: 'weir-unmetered', executable, prepaid: false }),
    weir({ name: 'weir-budget', executable, prepaid: true, budgeted: true }),
    weir({ name: 'weir-log-off', executable, prepaid: true, settings: { log: 'off' } }),
  ]
}

function takesPart({ variable, chatOnly = false }: Contender): boolean {
  return !chatOnly && (variable === undefined || Boolean(process.env[variable]))
}

function otherWeir(text: string): Contender {
  const [name = '', file = ''] = text.split('=')
  return weir({ name, executable: resolve(file), prepaid: !name.endsWith('-u') })
}
