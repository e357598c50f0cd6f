import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import type { Contender, Place, Running } from './contender.ts'
import { outputOf, startProgram } from './programs.ts'

export type WeirOptions = {
  readonly name: string
  readonly executable: string
  /** Whether calls are paid from a balance: all that there is to do, or all but that. */
  readonly prepaid: boolean
  /** Whether the key has a budget, too. */
  readonly budgeted?: boolean
  /** More of weir.yaml. */
  readonly settings?: object
}

/** Weir as it is served: its executable, a database on the disk, and its settings and keys made by its own commands. */
export function weir(options: WeirOptions): Contender {
  return { name: options.name, gateway: true, start: (place) => startWeir(options, place) }
}

/** Weir that runs; its requests have the same headers for every workload. */
export type RunningWeir = Running & { readonly pid: number; headers(): Readonly<Record<string, string>> }

/** Starts the executable with the settings of the bench. */
export async function startWeir(options: WeirOptions, place: Omit<Place, 'downloads'>): Promise<RunningWeir> {
  const { name, executable, prepaid, budgeted = false, settings } = options
  const cwd = join(place.folder, name)
  await mkdir(cwd)
  await Bun.write(join(cwd, 'weir.yaml'), JSON.stringify({ ...settingsFor(place.upstream), ...settings }))
  const environment = { WEIR_DATA: join(cwd, 'data') }
  // A copy: while this runs, another build may take the place of the original.
  const copy = join(cwd, 'weir')
  await copyFile(executable, copy)
  const run = (...args: string[]) => outputOf([copy, ...args], cwd, environment)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const serve = [copy, 'serve', '--port', String(port)]
  const program = await startProgram(serve, { cwd, environment, url: `${url}/livez` })
  if (prepaid) {
    await run('orgs', 'create', 'bench')
    await run('orgs', 'set', 'bench', '--billing', 'prepaid')
    await run('orgs', 'credit', 'bench', '1000000')
  }
  const budget = budgeted ? ['--budget', '1000000', '--budget-period', 'month'] : []
  const made = await run('keys', 'create', '--org', prepaid ? 'bench' : 'default', ...budget, '--json')
  const { key } = JSON.parse(made) as { readonly key: string }
  return { ...program, url, headers: () => ({ authorization: `Bearer ${key}` }) }
}

/** As operators set it, with limits that are counted and never reached. */
function settingsFor(upstream: string): object {
  const pricing = { input: 0.1, output: 0.3 }
  const model = (slug: string, name: string) => ({
    slug: `bench/${slug}`,
    context_window: 1_000_000,
    max_output_tokens: 4096,
    input_modalities: ['text', 'image'],
    pricing,
    routes: [{ provider: slug, model: name }],
  })
  return {
    providers: {
      chat: { kind: 'openai-compatible', base_url: `${upstream}/v1`, api_key: 'sk-bench' },
      anthropic: { kind: 'anthropic', base_url: upstream, api_key: 'sk-bench' },
      gemini: { kind: 'gemini', base_url: `${upstream}/v1beta`, api_key: 'sk-bench' },
    },
    models: [model('chat', 'river-1'), model('anthropic', 'brook-1'), model('gemini', 'spring-1')],
    limits: { requests_per_minute: 10 ** 9, tokens_per_minute: 2 * 10 ** 9, concurrent_requests: 100_000 },
  }
}
