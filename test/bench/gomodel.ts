import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import type { Contender, Place, Running } from './contender.ts'
import { executableIn } from './executable.ts'
import { startProgram } from './programs.ts'

/** A gateway in Go. */
export const gomodel: Contender = { name: 'gomodel', gateway: true, variable: 'GOMODEL', start: startGoModel }

async function startGoModel({ upstream, folder }: Place): Promise<Running | string> {
  const executable = executableIn('GOMODEL', 'gomodel')
  if ('missing' in executable) return executable.missing
  const cwd = join(folder, 'gomodel')
  await mkdir(cwd)
  const port = await freePort()
  const key = `sk-${crypto.randomUUID()}`
  // JSON is YAML, too.
  await Bun.write(join(cwd, 'config.yaml'), JSON.stringify(settingsFor(port, upstream, key)))
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram([executable.path], { cwd, url: `${url}/health` })
  return { ...program, url, headers: () => ({ authorization: `Bearer ${key}` }) }
}

/**
 * Usage is recorded, as it is by default; no reply is cached, and nothing is downloaded. No setting confines it to
 * loopback, so it has a key of its own for this run.
 */
function settingsFor(port: number, upstream: string, key: string): object {
  const api_key = 'sk-bench'
  return {
    server: { port: String(port), master_key: key },
    admin: { endpoints_enabled: false, ui_enabled: false },
    models: { configured_provider_models_mode: 'allowlist' },
    cache: { model: { model_list: { url: '' }, local: { cache_dir: 'cache' } } },
    storage: { type: 'sqlite', sqlite: { path: 'gomodel.db' } },
    providers: {
      bench: { type: 'openai', base_url: `${upstream}/v1`, api_key, models: ['chat'] },
    },
  }
}
